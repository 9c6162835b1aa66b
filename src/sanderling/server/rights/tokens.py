"""Who may ask for what: tokens, each with an owner, a role and limits. Of a token only a digest is kept.

A token is 32 random bytes: nobody guesses it, so a plain digest hides it well enough.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sanderling.errors import ConfigError, ServerError, SessionError
from sanderling.state.sealed import write_atomically

CLIENT, OPERATOR = "client", "operator"
ROLES = (CLIENT, OPERATOR)


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one token."""

    queries: int = 1_000  # registered at a time
    subscriptions: int = 200  # at a time, over all connections
    connections: int = 50
    statements_a_minute: int = 600
    sql_bytes: int = 1 << 20
    body_bytes: int = 10 << 20  # of readings
    bytes_a_second: int = 16 << 20  # sent and told; whoever is over it waits


# Whoever runs the server may do more at once than the server would let others.
UNBOUNDED = Limits(200_000, 10_000, 2_000, 200_000, 64 << 20, 10 << 20, 1 << 40)


@dataclass(frozen=True, slots=True)
class Token:
    """What is known of a token; `id` names it and tells nothing of it."""

    id: str
    digest: str
    owner: str
    role: str
    may_send: bool = False  # readings
    limits: Limits = field(default_factory=Limits)

    @property
    def is_operator(self) -> bool:
        return self.role == OPERATOR


class Tokens:
    """Those in a file, and those of this run. May be used from several threads.

    Promises (tests/server/test_start.py, test_clients.py): a token that was taken away is refused from then
    on; the file holds no token.
    """

    def __init__(self, path: Path | None = None):
        self.path = path
        self._lock = threading.Lock()
        self._by_id: dict[str, Token] = {t.id: t for t in _read(path)} if path is not None else {}
        self._passing: set[str] = set()  # ids of those of this run alone

    def all(self) -> list[Token]:
        return list(self._by_id.values())

    def make(
        self, owner: str, role: str, may_send: bool = False, is_passing: bool = False,
        limits: Mapping[str, int] = MappingProxyType({}),
    ) -> tuple[str, Token]:  # fmt: skip
        """A new one, and what is known of it; one that is `passing` ends with this run. `limits` are those
        that are other than usual."""
        if role not in ROLES:
            raise SessionError("session.bad_argument", f'role = "{role}" is none', "client or operator")
        if not owner.strip() or len(owner) > 200:
            raise SessionError("session.bad_argument", "a token needs an owner", "give a name")
        word, is_operator = secrets.token_urlsafe(32), role == OPERATOR
        own = replace(UNBOUNDED if is_operator else Limits(), **limits)
        token = Token(secrets.token_hex(4), digest_of(word), owner, role, may_send or is_operator, own)
        with self._lock:
            self._by_id[token.id] = token
            if is_passing or self.path is None:
                self._passing.add(token.id)
            else:
                self._write()
        return word, token

    def known(self, word: str) -> Token | None:
        """Looks at all of them: how long it takes says nothing of any."""
        digest, found = digest_of(word), None
        for token in list(self._by_id.values()):
            if hmac.compare_digest(token.digest, digest):
                found = token
        return found

    def take_away(self, id_: str) -> None:
        with self._lock:
            if self._by_id.pop(id_, None) is None:
                raise ServerError("auth.unknown_token", f'there is no token "{id_}"')
            self._passing.discard(id_)
            self._write()

    def _write(self) -> None:
        if self.path is not None:
            kept = [asdict(t) for t in self._by_id.values() if t.id not in self._passing]
            write_atomically(self.path, json.dumps(kept, indent=1).encode() + b"\n")


def digest_of(word: str) -> str:
    return hashlib.sha256(word.encode()).hexdigest()


def _read(path: Path) -> list[Token]:
    if not path.exists():
        return []
    try:
        return [_token(said) for said in json.loads(path.read_text())]
    except (OSError, ValueError, TypeError, LookupError) as e:
        raise ConfigError(
            "config.bad_tokens", f"{path} holds no tokens: {e}", "mend it, or name another file"
        ) from e


def _token(said: dict[str, Any]) -> Token:
    token = Token(**{**said, "limits": Limits(**said.get("limits", {}))})
    if token.role not in ROLES:
        raise ValueError(f'"{token.role}" is no role')
    return replace(token)
