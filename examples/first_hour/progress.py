"""How far a session is: in a line while it reads, and in numbers.

python progress.py folder, with cabs_2h.csv.gz in it
"""

import sys

import sanderling

with sanderling.connect(data=sys.argv[1]) as session:
    session.execute("""
        CREATE STREAM cabs KEY cab_id TIME unix_time LOCATION (lon, lat)
          WITH (path = 'cabs_2h.csv.gz', tick = '1 minute')
    """)
    session.register("occupied", "SELECT cab_id FROM cabs WHERE occupied = 1")
    session.start()
    while session.progress.ticks == 0:  # any other thread, or program, may ask
        session.await_termination(1)
        print(session.progress, file=sys.stderr)
    session.process_all()
    print(session.progress)
    seen = session.metrics()
    print(seen["rows"], seen["closed_to"], seen["dead_letters"], seen["updates"])
