"""Statements to operators, and what is shared; it knows no rows."""
