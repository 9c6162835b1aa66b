"""Traffic to a file, step by step: Parquet, CSV or lines of JSON. It gets its name when it is complete."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from sanderling import relational
from sanderling.errors import ConfigError
from sanderling.simulate.settings import TrafficSettings
from sanderling.simulate.traffic import Traffic

# Steps are written together until they are worth a row group, which also bounds what is held in memory.
ROWS_AT_ONCE = 100_000
MOST_STEPS = 100_000_000
# Times that can be read again: the years 1 to 9999.
FIRST_US, LAST_US = -62_135_596_800_000_000, 253_402_300_799_999_999

PLACES = ("x", "y", "lon", "lat")


class Writer(Protocol):
    def write(self, readings: pa.Table) -> None: ...

    def close(self) -> None: ...


class ParquetWriter:
    def __init__(self, path: Path, schema: pa.Schema):
        # Places do not repeat and do not shrink; all else does. Without Arrow's own schema `type` is a
        # column of texts to every reader.
        packed = {name: "none" if name in PLACES else "lz4" for name in schema.names}
        self.file = pq.ParquetWriter(
            path, schema, use_dictionary=["ts", "speed", "heading", "type"], compression=packed,
            column_encoding={"id": "DELTA_BINARY_PACKED"}, write_statistics=["id", "ts"], store_schema=False,
        )  # fmt: skip

    def write(self, readings: pa.Table) -> None:
        self.file.write_table(readings)

    def close(self) -> None:
        self.file.close()


class CsvWriter:
    def __init__(self, path: Path, schema: pa.Schema):
        options = pacsv.WriteOptions(quoting_style="none", quoting_header="none")
        self.plain = pa.schema([f.with_type(pa.string()) if f.name == "type" else f for f in schema])
        self.file = pacsv.CSVWriter(path, self.plain, write_options=options)

    def write(self, readings: pa.Table) -> None:
        self.file.write_table(readings.cast(self.plain))

    def close(self) -> None:
        self.file.close()


class LinesWriter:
    def __init__(self, path: Path, schema: pa.Schema):
        self.file = path.open("wb")

    def write(self, readings: pa.Table) -> None:
        said = relational.run(
            "SELECT to_json(readings)::VARCHAR || chr(10) AS line FROM readings", readings=readings
        )
        for chunk in said.column("line").cast(pa.large_string()).chunks:
            _, offsets, text = chunk.buffers()
            bounds = memoryview(offsets).cast("q")
            self.file.write(memoryview(text)[bounds[chunk.offset] : bounds[chunk.offset + len(chunk)]])

    def close(self) -> None:
        self.file.close()


WRITERS: dict[str, Callable[[Path, pa.Schema], Writer]] = {
    ".parquet": ParquetWriter, ".csv": CsvWriter, ".jsonl": LinesWriter,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Written:
    readings: int
    size_bytes: int


def refuse_target(path: Path) -> None:
    """What can be known to be wrong before anything is made."""
    if path.suffix not in WRITERS:
        raise ConfigError(
            "config.unknown_output",
            f'the format cannot be told from "{path}"',
            f"end it in {', '.join(WRITERS)}",
        )
    if not path.parent.is_dir():
        raise ConfigError("config.missing_file", f"there is no folder {path.parent}", "make it first")
    if path.is_dir():
        raise ConfigError("config.output_exists", f"{path} is a folder", "name a file")
    # A device or a pipe would be replaced by a file.
    if path.exists() and not path.is_file():
        raise ConfigError("config.not_writable", f"{path} is not a regular file", "name a file")


def refuse_steps(settings: TrafficSettings, steps: int) -> None:
    if not 1 <= steps <= MOST_STEPS:
        raise ConfigError("config.bad_option", f"--steps cannot be {steps}", f"from 1 to {MOST_STEPS:,}")
    last_us = settings.start_us + (steps - 1) * settings.step_us
    if settings.start_us < FIRST_US or last_us > LAST_US:
        raise ConfigError(
            "config.bad_option", "the steps lead out of the years 1 to 9999", "take fewer, or another --start"
        )


def write_steps(
    traffic: Traffic, steps: int, path: Path, progress: Callable[[int], object] = lambda done: None
) -> Written:
    """So many steps of readings, into a file that is there only when it is complete."""
    readings = 0
    with _new_file(path) as partial:
        writer = WRITERS[path.suffix](partial, traffic.schema)
        try:
            # Beside the next steps, one batch behind them: it is most of the work.
            with ThreadPoolExecutor(1) as beside:
                writing = beside.submit(lambda: None)
                for batch in _batches(traffic, steps, progress):
                    writing.result()
                    writing = beside.submit(writer.write, batch)
                    readings += batch.num_rows
                writing.result()
        finally:
            writer.close()
        size_bytes = partial.stat().st_size
    return Written(readings, size_bytes)


def _batches(traffic: Traffic, steps: int, progress: Callable[[int], object]) -> Iterator[pa.Table]:
    held, rows = [traffic.schema.empty_table()], 0
    for done in range(1, steps + 1):
        readings = traffic.step()
        if readings.num_rows:  # there may be very many steps in which nobody is left
            held.append(readings)
            rows += readings.num_rows
        if rows >= ROWS_AT_ONCE or done == steps:
            yield pa.concat_tables(held)
            held, rows = held[:1], 0
        progress(done)


@contextmanager
def _new_file(path: Path) -> Iterator[Path]:
    """A place to write; gets its name at the end, or disappears."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        yield partial
        os.replace(partial, path)
    except OSError as e:
        raise ConfigError(
            "config.not_writable", f"{path}: {e.strerror or e}", "check the path and the room"
        ) from e
    finally:
        partial.unlink(missing_ok=True)
