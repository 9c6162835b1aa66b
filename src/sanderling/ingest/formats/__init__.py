"""A file a format: its rows in columns, still untyped."""
