"""What a prompt and a notebook show of a session, a subscription, an answer. No word of a user is markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import pyarrow as pa

ROWS_SHOWN, HTML_ROWS_SHOWN = 20, 50
LONGEST = 60


def text_table(table: pa.Table) -> str:
    """The first rows, and how many there are."""
    names, rows = _texts(table, ROWS_SHOWN)
    widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
    lines = [
        "  ".join(v.ljust(w) for v, w in zip(row, widths, strict=True)).rstrip() for row in (names, *rows)
    ]
    return "\n".join([*lines, counted(table.num_rows, shown=len(rows))])


def html_table(table: pa.Table) -> str:
    names, rows = _texts(table, HTML_ROWS_SHOWN)
    return html_rows(names, rows) + f"<p><small>{counted(table.num_rows, shown=len(rows))}</small></p>"


def html_rows(names: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{escape(v)}</td>" for v in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def counted(count: int, what: str = "row", shown: int | None = None) -> str:
    """How many, in words."""
    many = what if count == 1 else f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    more = f", of which {shown:,} are shown" if shown is not None and shown < count else ""
    return f"{count:,} {many}{more}"


def _texts(table: pa.Table, most: int) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    some = table.slice(0, most)
    columns = [[short(value) for value in column.to_pylist()] for column in some.columns]
    return tuple(table.column_names), list(zip(*columns, strict=True))


def short(value: object) -> str:
    """A value in a line."""
    words = "null" if value is None else " ".join(str(value).split())
    return words if len(words) <= LONGEST else words[: LONGEST - 1] + "…"


def of_session(
    state: str, streams: Sequence[tuple[str, str, str]], queries: Sequence[tuple[str, str, str]]
) -> str:
    """`streams`: name, columns, clock; `queries`: name, kind, SQL."""
    parts = [f"<p><b>Session</b>, {escape(state)}</p>"]
    if streams:
        parts.append(html_rows(("stream", "columns", "closed to"), streams))
    if queries:
        some = [tuple(map(short, query)) for query in queries[:HTML_ROWS_SHOWN]]
        said = counted(len(queries), "query", len(some))
        parts.append(html_rows(("name", "kind", "of"), some) + f"<p><small>{said}</small></p>")
    return "".join(parts)


def of_subscription(name: str, rows: int, state: str) -> str:
    return f"<p><b>Subscription</b> of {escape(repr(name))}: {counted(rows)} waiting, {state}</p>"
