"""SQL text to statements: a dialect on sqlglot; it knows no data."""

from sanderling.language.parse import parse_script, parse_statement
from sanderling.language.script import read_script

__all__ = ["parse_script", "parse_statement", "read_script"]
