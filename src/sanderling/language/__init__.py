"""SQL text to statements: a dialect on sqlglot; it knows no data.

script.py ──► moulds: what repeats is read once ──► parse.py ──► grammar/ ──► statements.py
forms.py: how each statement is written, for hints        blanks.py: a SELECT with parameters
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sanderling.language.parse import parse_script, parse_statement
    from sanderling.language.script import read_script

__all__ = ["parse_script", "parse_statement", "read_script"]


def __getattr__(name: str) -> Any:
    """Plans name kinds of windows as statements do; those who run them need no grammar for it."""
    if name not in __all__:
        raise AttributeError(f"module 'sanderling.language' has no attribute {name!r}")
    from sanderling.language import parse, script

    return getattr(script if name == "read_script" else parse, name)
