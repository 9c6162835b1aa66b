"""What a run says on standard error, but for how far it is."""

from __future__ import annotations

PROGRESS = "sanderling: "


def without_progress(said: str) -> str:
    return "".join(line for line in said.splitlines(keepends=True) if not line.startswith(PROGRESS))
