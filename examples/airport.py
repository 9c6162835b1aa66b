"""Taxis around the airport: who is free there, told as they come and go, and one more question while it runs.

python examples/airport.py
"""

import tempfile
from pathlib import Path

import sanderling

# What three taxis report, minute by minute: who, where (x, y in km), and whether it is free.
MINUTES = (
    "anna,30,44,true   ben,43,41,true   cleo,60,45,false",
    "anna,41,44,true   ben,43,41,false  cleo,49,45,false",
    "anna,42,44,true   ben,35,30,false  cleo,48,45,true",
    "anna,42,44,true   ben,20,20,false  cleo,48,45,true",
    "anna,43,44,false  ben,10,20,false  cleo,48,45,true",
    "anna,55,50,false  ben,10,20,true   cleo,48,45,true",
)


def report(folder, minute):
    """One more file in the folder that Spark watches; renamed, so that Spark never sees half of it."""
    rows = [row.split(",", 1) for row in MINUTES[minute].split()]
    half = folder / ".half"
    half.write_text("".join(f"{taxi},2024-05-01 08:{minute:02}:00,{rest}\n" for taxi, rest in rows))
    half.rename(folder / f"{minute}.csv")


def tell(subscription):
    """Prints what has come since the last time, in order."""
    rows = [row for batch in iter(lambda: subscription.poll(0), None) for row in batch.to_pylist()]
    for row in sorted(rows, key=lambda row: (row["tick"], row["sign"], row["id"])):
        print(f"{row['tick']:%H:%M}  {subscription.name:<16}{'+' if row['sign'] > 0 else '−'} {row['id']}")


with tempfile.TemporaryDirectory() as name, sanderling.connect() as session:
    folder = Path(name)
    # Any streaming DataFrame will do: from Kafka, Delta, or, as here, from files that appear in a folder.
    frame = session.spark.readStream.schema("id STRING, ts TIMESTAMP, x DOUBLE, y DOUBLE, free BOOLEAN")
    session.stream(frame.csv(name), name="taxis", key="id", time="ts", location=("x", "y"), tick="1 minute")
    session.register("free_at_airport", "SELECT id FROM taxis WHERE free INSIDE (40, 40, 50, 50)")
    session.start()

    free = session.subscribe("free_at_airport")
    for minute in range(3):
        report(folder, minute)
        session.process_all()
        tell(free)

    # The stream goes on meanwhile. The new query begins at the next tick, with its whole answer.
    session.register("busy_around_it", "SELECT id FROM taxis WHERE NOT free INSIDE (45, 45, 20)")
    busy = session.subscribe("busy_around_it")
    session.process_all()
    for minute in range(3, len(MINUTES)):
        report(folder, minute)
        session.process_all()
        tell(free)
        tell(busy)

    # Of the last minute nobody knows yet whether it is over: an answer is as at the tick before.
    print("free at the airport now:", *sorted(session.answer("free_at_airport")["id"].to_pylist()))
