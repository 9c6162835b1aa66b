"""What lies beneath the objects of a map: lines of GeoJSON, an archive of tiles, the address of a style."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from sanderling.errors import ConfigError

ARCHIVE = b"PMTiles\x03"


@dataclass(frozen=True, slots=True)
class Ground:
    """Tiles and styles are for streams that are on the globe: they know no other plane than their own."""

    roads: Path | None = None
    tiles: Path | None = None  # PMTiles
    style: str | None = None

    def refuse_what_is_none(self) -> None:
        """Before anything is started."""
        for path, what in ((self.roads, "a GeoJSON file"), (self.tiles, "a PMTiles file")):
            if path is not None and not path.is_file():
                raise ConfigError("config.missing_file", f"{path}: there is no such file", f"name {what}")
        if self.tiles is not None:
            with open(self.tiles, "rb") as file:
                if file.read(len(ARCHIVE)) != ARCHIVE:
                    raise ConfigError(
                        "config.unknown_format", f"{self.tiles} is no PMTiles archive, version 3",
                        "convert it with the pmtiles tool",
                    )  # fmt: skip
        if self.style is not None and not _is_address(self.style):
            raise ConfigError(
                "config.bad_option", f'style = "{self.style[:80]}" is no address', "https://…/style.json"
            )

    @property
    def sources(self) -> str:
        """Where a page may fetch from beside us: a style names tiles and letters wherever they are."""
        if self.style is None:
            return ""
        parts = urlsplit(self.style)
        return f"https: {parts.scheme}://{parts.netloc}"

    def shown(self) -> dict[str, object]:
        return {"roads": self.roads is not None, "tiles": self.tiles is not None, "style": self.style}


def _is_address(text: str) -> bool:
    """Of the web, and with nothing that would mean more in a header."""
    parts = urlsplit(text)
    is_plain = all(" " < c <= "~" and c not in ";,'\"" for c in parts.netloc)
    return parts.scheme in ("http", "https") and bool(parts.netloc) and is_plain and "@" not in parts.netloc
