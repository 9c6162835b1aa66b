"""`sanderling simulate` as its user meets it."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sanderling.command import app
from sanderling.errors import SanderlingError

COMMAND = [sys.executable, "-c", "from sanderling.command import main; main()", "simulate"]


def simulate(*words: str) -> None:
    app(["simulate", *words], standalone_mode=False)


def test_a_line_tells_what_was_written(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "city.csv"
    simulate(str(out), "--objects", "30", "--new", "2", "--steps", "5", "--seed", "3")
    said = capfd.readouterr()
    assert said.out == "" and said.err.startswith(f"{out}: ") and said.err.count("\n") == 1
    assert "of 38 objects in 5 steps" in said.err
    lines = out.read_text().splitlines()
    assert lines[0] == "id,ts,x,y,speed,heading,type,gone"
    assert lines[1].startswith("0,2024-05-01 08:00:00") and lines[1].endswith(",bus,false")


def test_a_town_west_of_greenwich(tmp_path: Path) -> None:
    out = tmp_path / "city.csv"
    simulate(str(out), "--objects", "3", "--steps", "1", "--at", "-122.4,37.8")
    lines = out.read_text().splitlines()
    assert lines[0] == "id,ts,lon,lat,speed,heading,type,gone"
    assert all(abs(float(line.split(",")[2]) + 122.4) < 0.1 for line in lines[1:])


def test_every_option_is_explained() -> None:
    said = CliRunner().invoke(app, ["simulate", "--help"], env={"COLUMNS": "200"}).output
    for option in (
        "objects",
        "new",
        "steps",
        "step",
        "start",
        "seed",
        "network",
        "noise",
        "skip",
        "keep-going",
        "at",
    ):
        assert f"--{option} " in said


def test_a_network_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("node_id,x,y\n1,0,0\n2,100,0\n")
    (tmp_path / "e.csv").write_text("edge_id,from_node,to_node,edge_class,length\n1,1,2,3,100\n")
    words = ("--objects", "5", "--steps", "3", "--network", str(tmp_path / "n.csv"), str(tmp_path / "e.csv"))
    simulate(str(tmp_path / "x.jsonl"), *words)
    assert '"y":0.0' in (tmp_path / "x.jsonl").read_text().splitlines()[0]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("config.unknown_output", ["x.txt"]),
        ("config.missing_file", ["nowhere/x.csv"]),
        ("config.missing_file", ["x.csv", "--network", "n.csv", "e.csv"]),
        ("config.output_exists", ["folder.csv"]),
        ("config.output_exists", ["n.csv", "--network", "./n.csv", "e.csv"]),
        ("config.bad_option", ["x.csv", "--objects", "0"]),
        ("config.bad_option", ["x.csv", "--objects", "-3"]),
        ("config.bad_option", ["x.csv", "--objects", "99999999999"]),
        ("config.bad_option", ["x.csv", "--new", "-1"]),
        ("config.bad_option", ["x.csv", "--steps", "0"]),
        ("config.bad_option", ["x.csv", "--step", "nan"]),
        ("config.bad_option", ["x.csv", "--step", "-1"]),
        ("config.bad_option", ["x.csv", "--noise", "inf"]),
        ("config.bad_option", ["x.csv", "--skip", "1"]),
        ("config.bad_option", ["x.csv", "--seed", "-1"]),
        ("config.bad_option", ["x.csv", "--start", "soon"]),
    ],
)
def test_a_mistake_has_its_code(
    code: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder.csv").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SanderlingError) as error:
        simulate(*words)
    assert error.value.code == code
    assert [p.name for p in tmp_path.iterdir()] == ["folder.csv"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_told_to_stop_it_leaves_nothing(number: int, tmp_path: Path) -> None:
    words = ["x.parquet", "--objects", "50000", "--steps", "1000000"]
    process = subprocess.Popen(
        [*COMMAND, *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True,
        # Tests that run in the background inherit that Ctrl-C is ignored, and we would respect it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not list(tmp_path.iterdir()):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (128 + number, "stopped\n")
    assert list(tmp_path.iterdir()) == []


def test_a_terminal_sees_a_bar(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    words = ["x.csv", "--objects", "3000", "--steps", "200"]
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen([*COMMAND, *words], cwd=tmp_path, stderr=theirs, env=env)
    os.close(theirs)
    said = b""
    try:
        while piece := os.read(ours, 4096):
            said += piece
    except OSError:  # the terminal is closed when the process has ended
        pass
    os.close(ours)
    assert process.wait(60) == 0
    assert b"driving" in said and b"x.csv: " in said
