"""Sanderling: continuous SQL over things that move, told as what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sanderling.session.connect import connect
    from sanderling.session.session import Session
    from sanderling.session.state import State

__version__ = "0.1.0"
__all__ = ["Session", "State", "connect"]


def __dir__() -> list[str]:
    """What there is, though it is imported when it is asked for."""
    return sorted({*__all__, "__version__", "__doc__"})


def __getattr__(name: str) -> Any:
    """Spark takes its time to import: not before somebody asks for a session."""
    if name == "connect":
        from sanderling.session.connect import connect

        return connect
    if name == "Session":
        from sanderling.session.session import Session

        return Session
    if name == "State":
        from sanderling.session.state import State

        return State
    raise AttributeError(f"module 'sanderling' has no attribute {name!r}")
