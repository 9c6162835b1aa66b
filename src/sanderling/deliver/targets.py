"""Where output goes, and what can be known to be wrong with it before anything runs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sanderling.errors import ConfigError


class Form(StrEnum):
    """How a file is written."""

    LINES = "lines of JSON"
    CSV = "CSV"
    GEOJSON = "GeoJSON"
    PARQUET = "Parquet"


FORM_OF_SUFFIX = {
    ".jsonl": Form.LINES,
    ".ndjson": Form.LINES,
    ".json": Form.LINES,
    ".csv": Form.CSV,
    ".geojson": Form.GEOJSON,
    ".parquet": Form.PARQUET,
}


@dataclass(frozen=True, slots=True)
class Targets:
    """Where output goes. `updates` is a file or a folder of Parquet; None is standard output."""

    updates: Path | None
    is_folder: bool
    letters: Path | None
    form: Form = Form.LINES  # of a file
    is_final: bool = False  # the answers at the end instead of what changes

    @property
    def is_gathered(self) -> bool:
        """Whether it is written at the end, of all that was told."""
        return self.is_final or self.form != Form.LINES


def refuse_at_the_end(targets: Targets) -> None:
    """What is written at the end, where there is none; a CSV grows as lines do."""
    if targets.is_final or targets.form in (Form.GEOJSON, Form.PARQUET):
        what = "--final tells the answers" if targets.is_final else f"{targets.form} is written"
        raise ConfigError(
            "config.unknown_output", f"{what} at the end, and --follow has none",
            "name x.jsonl, x.csv, or a folder/ for Parquet by query",
        )  # fmt: skip


def targets_of(out: str | None, letters: Path | None, is_final: bool = False) -> Targets:
    """Where to write, as far as can be known now; what is wrong is said before anything runs."""
    if letters is not None:
        refuse_no_file(letters)
    if out is None:
        return Targets(None, False, letters, is_final=is_final)
    path = Path(out)
    form = None if out.endswith("/") else FORM_OF_SUFFIX.get(path.suffix)
    if not path.name or path.name == ".." or (form is None and not _names_a_folder(out)):
        raise ConfigError(
            "config.unknown_output",
            f'"{out}" is neither a file of a known kind nor a folder of its own',
            "name x.jsonl, x.csv, x.geojson, x.parquet, or a folder/ for Parquet by query",
        )
    if form is None:
        _refuse_missing_folder(path)
        return Targets(path, True, letters, is_final=is_final)
    refuse_no_file(path)
    return Targets(path, False, letters, form, is_final)


def _names_a_folder(out: str) -> bool:
    return out.endswith("/") or not Path(out).suffix or Path(out).is_dir()


def refuse_no_file(path: Path) -> None:
    """A file can be put here, in place of one that is there."""
    _refuse_missing_folder(path)
    if path.is_dir() or not path.name:
        raise ConfigError("config.output_exists", f"{path} is a folder", "name a file")
    # A device or a pipe would be replaced by a file.
    if path.exists() and not path.is_file():
        raise ConfigError("config.not_writable", f"{path} is not a regular file", "name a file")


def _refuse_missing_folder(path: Path) -> None:
    if not path.parent.is_dir():
        raise ConfigError("config.missing_file", f"there is no folder {path.parent}", "make it first")
    if not os.access(path.parent, os.W_OK):
        raise ConfigError("config.not_writable", f"{path.parent} cannot be written to", "check its rights")


def refuse_same_file(*paths: Path | None) -> None:
    """The script and the outputs are files of their own."""
    named = [path for path in paths if path is not None]
    for i, path in enumerate(named):
        if any(os.path.realpath(path) == os.path.realpath(other) for other in named[:i]):
            raise ConfigError(
                "config.output_exists", f"{path} is named twice", "give each output a file of its own"
            )


def refuse_filled_folder(folder: Path) -> None:
    """A folder of Parquet is written whole; it never mixes with what was there."""
    if folder.exists() and not folder.is_dir():
        raise ConfigError("config.output_exists", f"{folder} is not a folder", "name x.jsonl, or a folder/")
    if folder.exists() and any(folder.iterdir()):
        raise ConfigError(
            "config.output_exists", f"{folder} exists and is not empty", "remove it, or name another folder"
        )
