"""Who gets what was said, a sink a file.

sink.py       what a sink is
files.py      files with a ledger: each batch once, complete or not at all
lines.py      of them, lines of JSON that grow
tables.py     of them, typed Parquet, a folder a query
following.py  of them, what grows under its name as it comes, until somebody stops it
gathered.py   of them, what is written at the end of all that was told: CSV, GeoJSON, one Parquet, answers
"""
