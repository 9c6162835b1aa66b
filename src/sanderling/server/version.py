"""Which version answers."""

from __future__ import annotations

from importlib.metadata import version

VERSION = version("sanderling")
