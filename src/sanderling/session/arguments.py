"""What a call of a session is given: looked at first, so that what is wrong is told in our words."""

from __future__ import annotations

import os
from pathlib import Path

from sanderling.clock import duration_us
from sanderling.errors import ODD_CHARACTER, ConfigError, SessionError

SHOWN = 40
LONGEST_WAIT_S = 10 * 365 * 86_400.0


def text(what: str, value: object, hint: str = "give a text") -> str:
    """A text with something in it."""
    if not isinstance(value, str) or not value.strip():
        raise _refused(what, value, "no text" if not isinstance(value, str) else "empty", hint)
    return value


def whole(what: str, value: object, least: int, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        between = f"from {least:,} to {most:,}"
        raise _refused(what, value, f"no whole number {between}", f"give a whole number {between}")
    return value


def yes_or_no(what: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise _refused(what, value, "neither True nor False", "give True or False")
    return value


def seconds(what: str, value: object) -> float:
    """How long to wait; for ever is the longest that a clock can count."""
    if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:  # which NaN is not
        return float(min(value, LONGEST_WAIT_S))
    raise _refused(what, value, "no number of seconds", "give a number that is not below zero, such as 2.5")


def duration(what: str, value: object) -> int:
    """In microseconds."""
    found = duration_us(value) if isinstance(value, str) else None
    if found is None or found < 0:
        raise ConfigError(
            "config.bad_option", f"{what} = {shown(value)} is no duration", "say, '1 hour' or '2 seconds'"
        )
    return found


def folder(what: str, value: object) -> Path | None:
    """A path; None for none."""
    if value is None:
        return None
    path = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if isinstance(path, str) and path.strip() and not ODD_CHARACTER.search(path):
        return Path(path)
    raise _refused(what, value, "no path", "give the path of a folder")


def shown(value: object) -> str:
    """A short form of anything: never the inside of somebody's object."""
    if isinstance(value, str | bytes | int | float | bool | None):
        try:
            said = repr(value)
        except ValueError:  # a number with too many digits to write
            return "a very long number"
        return said if len(said) <= SHOWN else said[:SHOWN] + "…"
    return f"a {type(value).__name__}"


def _refused(what: str, value: object, why: str, hint: str) -> SessionError:
    return SessionError("session.bad_argument", f"{what} = {shown(value)} is {why}", hint)
