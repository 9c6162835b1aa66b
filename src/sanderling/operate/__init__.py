"""Incremental operators, one file per operator; they know neither Spark nor files."""
