"""What there is, for a map (catalog.py, columns.py, shapes.py), and how rows are written (forms.py)."""
