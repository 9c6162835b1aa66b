"""Who may do what: tokens.py, whose query is whose (owners.py), and what SQL may do (statements.py)."""
