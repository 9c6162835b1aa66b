"""PostGIS beside us, where it is installed: a server of its own, on a socket, gone when the benchmark is."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pyarrow as pa
import pyarrow.csv as pc_csv

PROGRAMS = ("initdb", "postgres")
# What who runs such a database on two cores would set.
SETTINGS = {
    "shared_buffers": "2GB", "work_mem": "256MB", "maintenance_work_mem": "1GB", "random_page_cost": "1.1",
    "jit": "off", "fsync": "off", "max_wal_size": "8GB", "max_parallel_workers_per_gather": "2",
    "listen_addresses": "",
}  # fmt: skip


def is_installed() -> bool:
    is_there = all(shutil.which(program) for program in PROGRAMS)
    return is_there and bool(list(Path("/usr/share/postgresql").glob("*/extension/postgis.control")))


@contextmanager
def server() -> Iterator[psycopg.Connection]:
    """An empty database with PostGIS in it. The server refuses to be root, so it is nobody else then."""
    with tempfile.TemporaryDirectory(prefix="postgis-") as name:
        folder = Path(name)
        as_user = {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}
        if as_user:
            shutil.chown(folder, **as_user)
        subprocess.run(
            ["initdb", "-D", f"{folder}/data", "-A", "trust", "-U", "postgres"], check=True,
            capture_output=True, **as_user, cwd=folder,
        )  # fmt: skip
        more = [word for option, value in SETTINGS.items() for word in ("-c", f"{option}={value}")]
        more += ["-c", f"unix_socket_directories={folder}"]
        with open(folder / "log", "w") as log:
            process = subprocess.Popen(
                ["postgres", "-D", f"{folder}/data", *more], stderr=log, stdout=log, **as_user, cwd=folder
            )
        try:
            with _connected(folder) as connection:
                connection.execute("CREATE EXTENSION postgis")
                yield connection
        finally:
            process.terminate()
            process.wait()


def _connected(folder: Path) -> psycopg.Connection:
    until = time.monotonic() + 30
    while True:
        try:
            return psycopg.connect(host=str(folder), user="postgres", dbname="postgres", autocommit=True)
        except psycopg.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


def processor_seconds(connection: psycopg.Connection) -> float:
    """Of the connection's process, and of those that it had help from; as Linux counts them."""
    backend = Path(f"/proc/{connection.info.backend_pid}/stat").read_text().rpartition(")")[2].split()
    server = Path(f"/proc/{backend[1]}/stat").read_text().rpartition(")")[2].split()
    ticks = [int(n) for n in (*backend[11:13], *server[13:15])]
    return sum(ticks) / os.sysconf("SC_CLK_TCK")


def load(connection: psycopg.Connection, tables: Iterator[pa.Table]) -> None:
    """Readings (id, ts in microseconds, x, y) as points, with all the indexes that queries may like."""
    connection.execute("CREATE UNLOGGED TABLE raw (id BIGINT, ts BIGINT, x FLOAT8, y FLOAT8)")
    for table in tables:
        text = io.BytesIO()
        pc_csv.write_csv(
            table.select(["id", "ts", "x", "y"]), text, pc_csv.WriteOptions(include_header=False)
        )
        with connection.cursor().copy("COPY raw FROM STDIN (FORMAT csv)") as copy:
            copy.write(text.getvalue())
    connection.execute(
        "CREATE UNLOGGED TABLE readings AS SELECT id, ts, ST_MakePoint(x, y) AS place FROM raw"
    )
    connection.execute("DROP TABLE raw")
    connection.execute("CREATE INDEX ON readings USING gist (place)")
    connection.execute("CREATE INDEX ON readings (id, ts DESC) INCLUDE (place)")
    connection.execute("CREATE INDEX ON readings USING brin (ts)")
    connection.execute("VACUUM ANALYZE readings")


# Who was in a box at a time, in two ways that one would write: the faster one counts.
AS_OF = {
    "everybody's last, then the box": """
      SELECT count(*), coalesce(sum(id), 0) FROM (
        SELECT DISTINCT ON (id) id, place FROM readings WHERE ts <= %(time)s ORDER BY id, ts DESC) last
      WHERE ST_Intersects(place, ST_MakeEnvelope(%(x1)s, %(y1)s, %(x2)s, %(y2)s))""",
    "who was in the box ever, then the last of each": """
      SELECT count(*), coalesce(sum(c.id), 0) FROM (
        SELECT DISTINCT id FROM readings
        WHERE place && ST_MakeEnvelope(%(x1)s, %(y1)s, %(x2)s, %(y2)s) AND ts <= %(time)s) c,
      LATERAL (SELECT place FROM readings r WHERE r.id = c.id AND r.ts <= %(time)s ORDER BY ts DESC LIMIT 1) l
      WHERE ST_Intersects(l.place, ST_MakeEnvelope(%(x1)s, %(y1)s, %(x2)s, %(y2)s))""",
}
BETWEEN = """
  SELECT count(*), count(DISTINCT id) FROM readings
  WHERE ST_Intersects(place, ST_MakeEnvelope(%(x1)s, %(y1)s, %(x2)s, %(y2)s))
    AND ts BETWEEN %(first)s AND %(last)s"""
