"""JOIN: join.py, the operator; side.py, the rows of one side; cells.py, who may be near."""
