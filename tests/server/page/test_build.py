"""How the page is built, and that it reaches whoever installs us."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
STATIC = ROOT / "src" / "sanderling" / "server" / "static"


def test_the_typescript_is_typed_and_its_tests_pass() -> None:
    done = subprocess.run([ROOT / "tools" / "web", "--test"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_lock_names_no_place_to_fetch_from() -> None:
    locked = (ROOT / "web" / "package-lock.json").read_text()
    assert locked.count('"integrity"') > 20
    assert "://" not in locked  # no "resolved"; and "funding" is taken out by hand


def test_what_is_built_tells_whose_it_is() -> None:
    licences = (STATIC / "licences.txt").read_text()
    for package in ("@deck.gl/core", "apache-arrow", "maplibre-gl", "uplot"):
        assert f"\n{package} " in f"\n{licences}"


def test_the_wheel_holds_the_page(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(
        ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
    )
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        "out",
        ".",
    ]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=300)
    (wheel,) = (tmp_path / "out").glob("*.whl")
    held = {name for name in zipfile.ZipFile(wheel).namelist() if "/static/" in name}
    built = {
        f"sanderling/server/static/{path.name}" for path in STATIC.iterdir() if not path.name.startswith(".")
    }
    assert held == built and "sanderling/server/static/main.js" in held
