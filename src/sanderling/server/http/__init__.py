"""A server as browsers and programs ask it.

app.py      which path is whose              guard.py     Host, Origin, lengths: before anything else
api.py      statements and lists             callers.py   whose token it is
updates.py  one query, without end           upsert.py    of it, the new row of each key
live.py     many queries on a socket         readings.py  what is sent
ogc.py      queries as layers                pages.py     the page and its files
operators.py  for operators and machines     problems.py  errors as HTTP has them
described.py  what /openapi.json says of it  trackers.py  what apps send
"""
