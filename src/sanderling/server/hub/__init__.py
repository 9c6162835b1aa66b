"""Between a session and the clients of a server.

hub.py      one reader a query, for all     channel.py  a query
watcher.py  a client's look at it           rows.py     pieces, and their sum
resume.py   what was told before            views.py    all objects, for operators
"""
