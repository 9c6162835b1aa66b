"""A terminal for people who speak SQL. The only import of prompt_toolkit.

keys ──► prompt ──► loop ──► embedded (a session of its own) or remote (a server) ──► shown

prompt.py    lines, colours, completion, history     words.py     which words a text has
loop.py      statements, and commands with \\         shown.py     rows that fit the screen
behind.py    what answers; embedded.py, remote.py    run.py       `sanderling shell`
"""
