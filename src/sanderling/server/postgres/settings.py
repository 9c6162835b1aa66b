"""What clients set and ask for: kept by name, and nothing depends on it but how they read us."""

from __future__ import annotations

import re

from sanderling.errors import ServerError, did_you_mean
from sanderling.server.postgres.pieces import Piece

SAID = {
    "server_version": "14.0", "server_encoding": "UTF8", "client_encoding": "UTF8", "DateStyle": "ISO, MDY",
    "IntervalStyle": "postgres", "TimeZone": "UTC", "integer_datetimes": "on",
    "standard_conforming_strings": "on", "is_superuser": "off", "in_hot_standby": "off",
    "default_transaction_read_only": "off", "application_name": "",
}  # fmt: skip
FIXED = ("server_version", "server_encoding", "client_encoding", "integer_datetimes", "is_superuser",
         "standard_conforming_strings", "timezone", "datestyle", "intervalstyle")  # fmt: skip
ASKED = {
    "transaction_isolation": "read committed", "transaction isolation level": "read committed",
    "search_path": "public", "max_identifier_length": "63", "statement_timeout": "30s", "time zone": "UTC",
    "server_version_num": "140000", "extra_float_digits": "1", "transaction_read_only": "off",
    "bytea_output": "hex", "lc_collate": "C", "lc_ctype": "C", "role": "none", "max_index_keys": "32",
    "default_transaction_isolation": "read committed",
}  # fmt: skip
SET = re.compile(
    r"SET\s+(?:SESSION\s+|LOCAL\s+)?(TIME\s+ZONE|[\w.]+)(?:\s*=\s*|\s+TO\s+|\s+)(.*)", re.I | re.S
)
MOST_KEPT, LONGEST = 100, 1_000


class Settings:
    """Of one connection."""

    def __init__(self, given: dict[str, str]):
        self._by_name = {name.casefold(): value for name, value in (SAID | ASKED).items()}
        encoding = given.get("client_encoding", "UTF8")
        self._refuse_encoding(encoding)
        self._by_name["application_name"] = given.get("application_name", "")[:LONGEST]

    def said(self) -> list[tuple[str, str]]:
        """What a client is told at the beginning."""
        return [(name, self._by_name[name.casefold()]) for name in SAID]

    def all(self) -> dict[str, str]:
        return dict(self._by_name)

    def set(self, piece: Piece) -> None:
        """What is fixed stays as it is, and the client hears nothing else of it."""
        found = SET.fullmatch(piece.sql.strip())
        if found is None or piece.words[1:2] in (("TRANSACTION",), ("CHARACTERISTICS",)):
            return
        name, value = " ".join(found[1].lower().split()), found[2].strip().strip("'\"")
        if name in ("client_encoding", "names"):
            self._refuse_encoding(value)
        elif name not in FIXED and (len(self._by_name) < MOST_KEPT or name in self._by_name):
            self._by_name[name] = value[:LONGEST]

    def get(self, piece: Piece) -> tuple[str, str]:
        """SHOW: the name of a setting, and its value."""
        name = " ".join(piece.sql.split()[1:]).strip('"').lower()
        if name not in self._by_name:
            known = list(self._by_name)
            raise ServerError(
                "query.unknown_option", f'no setting is named "{name}"', did_you_mean(name, known)
            )
        return name.replace(" ", "_"), self._by_name[name]

    def _refuse_encoding(self, encoding: str) -> None:
        if encoding.strip("'\"").upper().replace("-", "") not in ("UTF8", "UNICODE", "DEFAULT", "SQL_ASCII"):
            raise ServerError(
                "config.bad_option", f"client_encoding = {encoding[:40]}: all is UTF-8 here", "UTF8"
            )
