"""A program with a session, made to be killed: started again, it goes on where it was.

python -m tests.recovery.session_program FOLDER SEED
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import sanderling
from sanderling.session.session import Session
from tests.engine.own_states import Speeding
from tests.long import so_many
from tests.recovery.session_story import ACTS, Act, readings, write_step

STEPS_PER_READ = so_many(6, 3)  # each starts a query of Spark's


def main(place: Path, seed: int) -> None:
    input_folder, done = place / "in", place / "done.json"
    input_folder.mkdir(exist_ok=True)
    with sanderling.connect(checkpoint=place / "checkpoint", master="local[2]", shards=2) as session:
        schema = "id STRING, ts BIGINT, x DOUBLE, y DOUBLE, speed DOUBLE, gone BOOLEAN"
        reader = session.spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
        frame = reader.parquet(str(input_folder))
        session.stream(frame, name="cars", key="id", time="ts", location=("x", "y"), gone="gone")
        session.state("Speeding", Speeding)
        for act in (a for a in ACTS if not a.step):
            session.execute(act.sql)
        session.start()
        (place / "runs").open("a").write("run\n")
        next_step = json.loads(done.read_text()) if done.exists() else 0
        for step, rows in enumerate(readings(seed)):
            if step < next_step:
                continue
            for act in (a for a in ACTS if a.step == step > 0):
                happen(session, act)
            write_step(input_folder, step, rows)
            if any(a.is_exact for a in ACTS if a.step in (step, step + 1)):
                session.process_all()
            if step % STEPS_PER_READ == 0:
                read_along(session, place)
            _write(done, json.dumps(step + 1))
        session.process_all()
        read_along(session, place)
        told = session.spark.read.json(str(place / "told"))
        rows_told = [row.asDict() for row in told.collect()]
        answers = {name: sorted(session.answer(name).column("id").to_pylist()) for name in session.queries}
        _write(place / "result.json", json.dumps({"told": rows_told, "answers": answers}))


def happen(session: Session, act: Act) -> None:
    """Once, however often it is said: a run that was killed here may have said it."""
    if act.is_exact:
        session.process_all()
    if bool(act.select) != (act.name in session.queries):
        session.execute(act.sql)
    if act.is_exact:
        session.process_all()


def read_along(session: Session, place: Path) -> None:
    """All updates so far into a sink of Spark's that is exactly-once."""
    updates = session.updates().selectExpr("query", "unix_micros(tick) AS tick", "sign", "row")
    writer = updates.writeStream.format("json").option("path", str(place / "told"))
    writer = writer.option("checkpointLocation", str(place / "told checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination()


def _write(path: Path, text: str) -> None:
    path.with_suffix(".new").write_text(text)
    path.with_suffix(".new").replace(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
