"""GROUP BY: aggregate.py, the operator; measures.py, measured.py: what is kept of a group; exact.py: sums."""
