"""GROUP BY: aggregate.py, the operator; measures.py, measured.py: what is kept of a group; exact.py: sums;
ordered.py: percentiles, and what goes with the least or the greatest."""
