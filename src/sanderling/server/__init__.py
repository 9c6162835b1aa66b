"""A session over the network: HTTP, WebSocket, the page. The only imports of FastAPI, Starlette and Uvicorn.

serve.py      a thread with a loop            app.py        which path is whose
service.py    all that a server has           guard.py      Host, Origin, lengths: before anything else
hub.py        one reader a query, for all     callers.py    whose token it is
  channel.py    a query                       tokens.py, owners.py, statements.py
  watcher.py    a client's look at it           who may do what
  rows.py       pieces, and their sum         problems.py   errors as HTTP has them
  resume.py     what was told before
api.py        statements and lists            forms.py      JSON, lines, Arrow, GeoJSON, CSV
updates.py    one query, without end          columns.py, catalog.py, shapes.py
live.py       many queries on a socket          what there is, as a map wants to know it
views.py      all objects, for operators      operators.py, pulse.py, letters.py, metrics.py
pages.py      the page and its files            how it is doing
"""
