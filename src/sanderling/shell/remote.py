"""A server, by its address: its HTTP API, with Python's own HTTP."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from http.client import HTTPException, HTTPResponse
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import parse_qs, quote, urlsplit
from urllib.request import Request, urlopen

from sanderling.errors import ConfigError, Place, SanderlingError, ServerError
from sanderling.shell.behind import Relation, Rows, Update, text_of

SECONDS_TO_ANSWER = 120.0
# Longer than the server is silent.
SECONDS_TO_HEAR = 40.0
# An answer that is there is asked for by its name; all else is the server's business.
WHOLE = re.compile(
    r"\s*(?:SELECT\s+\*\s+FROM|TABLE)\s+(\w+|`(?:[^`]|``)+`)\s*(?:LIMIT\s+(\d+)\s*)?", re.IGNORECASE
)


class Remote:
    """`address` may hold the token, as the server says it when it starts."""

    def __init__(self, address: str, token: str | None):
        parts = urlsplit(address if "://" in address else f"http://{address}")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(
                "config.bad_option", f'"{address}" is no address of a server', "http://127.0.0.1:8080"
            )
        words = parse_qs(parts.query).get("token", [])
        self._token = words[0] if words else token
        self._root = f"{parts.scheme}://{parts.netloc}/api/v1"
        self._host = parts.netloc
        self._said = self._get("")

    @property
    def name(self) -> str:
        you = self._said["you"]
        return f"{self._host}, as {you['owner']} ({you['role']})"

    def run(self, statement: str) -> Rows | None:
        whole = WHOLE.fullmatch(statement.rstrip().rstrip(";"))
        if whole is not None:
            return self._answer(_plain(whole[1]), whole[2])
        outcome = self._get("/sql", json.dumps({"sql": statement}).encode())
        if not outcome["listings"]:
            return None
        shown = outcome["listings"][-1]
        return Rows(tuple(shown["columns"]), tuple(tuple(map(text_of, row)) for row in shown["rows"]))

    def _answer(self, name: str, limit: str | None) -> Rows:
        path = f"/queries/{quote(name, safe='')}/answer" + (f"?limit={limit}" if limit else "")
        answer = self._get(path)
        columns = tuple(column["name"] for column in answer["columns"])
        rows = tuple(tuple(text_of(row.get(c)) for c in columns) for row in answer["rows"])
        return Rows(columns, rows, answer["tick"])

    def relations(self) -> list[Relation]:
        found = []
        for kind, path in (("stream", "/streams"), ("table", "/tables"), ("query", "/queries")):
            for said in self._get(path):
                columns = tuple((c["name"], c["type"]) for c in said["columns"])
                found.append(
                    Relation(
                        said["name"],
                        said.get("kind") if kind == "query" else kind,
                        columns,
                        said.get("sql", ""),
                    )
                )
        return found

    def updates(self, name: str) -> Iterator[Update | None]:
        path = f"/queries/{quote(name, safe='')}"
        columns = [column["name"] for column in self._get(path)["columns"]]
        with self._open(f"{path}/updates", None, SECONDS_TO_HEAR, "application/x-ndjson") as lines:
            for line in lines:
                said = json.loads(line) if line.strip() else {}
                if "row" in said:
                    yield Update(
                        said["tick"], said["sign"], tuple(text_of(said["row"].get(c)) for c in columns)
                    )
                elif "reset" in said:
                    yield Update("", 0, (f"from the beginning: {said['reset']}",))
                elif "ended" in said:
                    return
                else:
                    yield None

    def close(self) -> None: ...

    # ----- HTTP

    def _get(self, path: str, body: bytes | None = None) -> Any:
        with self._open(path, body, SECONDS_TO_ANSWER, "application/json") as answer:
            return json.load(answer)

    def _open(self, path: str, body: bytes | None, timeout: float, form: str) -> HTTPResponse:
        headers = {"Accept": form, "Content-Type": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        try:
            answer: HTTPResponse = urlopen(Request(self._root + path, body, headers), timeout=timeout)
            return answer
        except HTTPError as e:
            raise _told(e) from None
        except (URLError, OSError, HTTPException, ValueError) as e:
            why = getattr(e, "reason", None) or e
            raise ConfigError(
                "config.no_server", f"{self._host}: {why}", "is the server running there?"
            ) from e


def _told(e: HTTPError) -> SanderlingError:
    """As the server said it."""
    try:
        said = json.load(e)
        place = None if said.get("place") is None else Place(**said["place"])
        return ServerError(said["code"], said["detail"], said.get("hint", ""), place)
    except (ValueError, KeyError, TypeError):
        return ConfigError(
            "config.no_server", f"this is no server of ours: {e.code} {e.reason}", "look at the address"
        )


def _plain(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name
