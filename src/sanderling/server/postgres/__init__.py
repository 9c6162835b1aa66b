"""A server as whoever speaks PostgreSQL's protocol sees it: psql, drivers, tools for charts.

bytes ──► wire ──► client ──► pieces ──► session            REGISTER, DROP, SHOW STREAMS, …
                              pieces ──► translate ──► DuckDB over answers and catalogs
                              pieces ──► copying            COPY (SUBSCRIBE q) TO STDOUT

wire.py       messages as bytes            client.py     one connection
values.py     rows as text and binary      extended.py   what is prepared and bound
types.py      their types                  parameters.py what is bound, as constants
pieces.py     a text, statement by statement             faults.py     errors, with SQLSTATE
translate.py  a SELECT as DuckDB reads it  catalogs.py   pg_catalog, information_schema (shapes.py, macros.py)
ask.py        a SELECT is answered         relations.py  what looks like a table
copying.py    rows without end             listener.py   the port
"""
