"""Subscribe to who is occupied, count them as they come and go, and plot it.

python subscribe.py folder, with cabs_2h.csv.gz in it
"""

import sys

import matplotlib.pyplot as plt

import sanderling

with sanderling.connect(data=sys.argv[1]) as session:
    session.execute("""
        CREATE STREAM cabs KEY cab_id TIME unix_time LOCATION (lon, lat)
          WITH (path = 'cabs_2h.csv.gz', tick = '1 minute')
    """)
    session.register("occupied", "SELECT cab_id, lon, lat FROM cabs WHERE occupied = 1")
    session.start()
    reader = session.subscribe("occupied")
    session.process_all()

    held, counts = {}, {}  # by cab where it is; by tick how many
    while (batch := reader.poll(0)) is not None:
        for row in batch.to_pylist():
            if row["sign"] > 0:
                held[row["cab_id"]] = row["lon"], row["lat"]
            else:
                del held[row["cab_id"]]
            counts[row["tick"]] = len(held)

plt.step(list(counts), list(counts.values()), where="post")
plt.savefig("occupied.png")
plt.clf()
plt.scatter(*zip(*held.values(), strict=True), s=4)
plt.savefig("where.png")
print(len(held), "are occupied at the end")
