"""SQL text to statements: a dialect on sqlglot; it knows no data.

script.py ──► moulds: what repeats is read once ──► parse.py ──► grammar/ ──► statements.py
forms.py: how each statement is written, for hints        blanks.py: a SELECT with parameters
"""

from sanderling.language.parse import parse_script, parse_statement
from sanderling.language.script import read_script

__all__ = ["parse_script", "parse_statement", "read_script"]
