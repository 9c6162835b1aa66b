"""What a script asks to see: SHOW and DESCRIBE. EXPLAIN has a folder of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sanderling.catalog import Stream, Table
from sanderling.clock import show_duration, show_time
from sanderling.language.grammar.space.lines import unit_in
from sanderling.language.statements import Coverage, FollowingShape, OutlineShape, focal_of
from sanderling.plan.build.areas import word_of
from sanderling.plan.many.cohorts import Member
from sanderling.plans.plan import ALWAYS
from sanderling.space.moving.change import change_of

KINDS = {"QUERIES": "query", "TRIGGERS": "trigger", "PATTERNS": "pattern"}


@dataclass(frozen=True, slots=True)
class Listing:
    """What SHOW, DESCRIBE and EXPLAIN answer: a title, headed columns, rows of text."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def shown(
    kind: str, streams: Iterable[Stream], tables: Iterable[Table], regions: Mapping[str, Coverage | None],
    queries: Iterable[Member], failed: Mapping[int, str],
) -> Listing:  # fmt: skip
    """SHOW: all there is of a kind; triggers and patterns are among the queries."""
    rows: Iterable[tuple[str, ...]]
    match kind:
        case "STREAMS":
            columns = "name columns key tick lateness path"
            rows = (
                (
                    s.name, f"{len(s.columns)}", s.key, show_duration(s.tick_us),
                    show_duration(s.lateness_us), s.path or "",
                )
                for s in streams
            )  # fmt: skip
        case "TABLES":
            columns = "name columns key rows"
            rows = ((t.name, f"{len(t.columns)}", t.key, f"{t.rows.num_rows}") for t in tables)
        case "REGIONS":
            columns = "name shape"
            rows = ((name, word_of(region)) for name, region in regions.items())
        case "PATTERNS":
            columns = "name stream failed sql"
            mine = (q for q in queries if q.query.kind == KINDS[kind])
            rows = ((q.name, q.query.stream.name, _why(q, failed), q.sql) for q in mine)
        case _:
            columns = "name stream sql"
            mine = (q for q in queries if q.query.kind == KINDS[kind])
            rows = ((q.name, q.query.stream.name, q.sql) for q in mine)
    return Listing(kind.lower(), tuple(columns.split()), tuple(rows))


def _why(member: Member, failed: Mapping[int, str]) -> str:
    """Why a pattern tells nothing more, if so."""
    return "" if member.number is None else failed.get(int(member.number), "")


def described_stream(stream: Stream) -> Listing:
    """DESCRIBE: the columns of readings, declared or told from a file, and what they are for."""
    roles = {stream.key: "key", stream.time: "time", stream.x: "x", stream.y: "y"}
    roles |= {stream.gone: "gone"} if stream.gone else {}
    roles |= {stream.partition: "partition"} if stream.partition else {}
    rows = tuple((c.name, c.type.name, roles.get(c.name, "")) for c in stream.columns)
    return Listing(f"stream {stream.name}", ("column", "type", "role"), rows)


def described_table(table: Table) -> Listing:
    """The same of a table; below it what was done to rows that could not be as they are."""
    roles = dict(zip(table.place or (), "xy", strict=False)) | {table.key: "key"}
    rows = [(c.name, c.type.name, roles.get(c.name, "")) for c in table.columns]
    rows += [(table.region, "region", "")] if table.region else []
    rows += [("", "", note) for note in table.notes]
    return Listing(f"table {table.name}", ("column", "type", "role"), tuple(rows))


def described_region(name: str, region: Coverage) -> Listing:
    """DESCRIBE: how a region changes by itself."""
    outline = region.outline if isinstance(region, OutlineShape | FollowingShape) else None
    change = change_of(outline, focal_of(region) is not None, unit_in(region) is not None)
    rows = (("shape", word_of(region)), *change._asdict().items())
    return Listing(f"region {name}", ("property", "value"), rows)


def described(asked: Member) -> Listing:
    """DESCRIBE: the columns that a query, a trigger or a pattern tells."""
    kind = asked.query.kind
    begins = "" if asked.begin == ALWAYS else f", from {show_time(asked.begin)}"
    rows = tuple((output.name, output.type.name) for output in asked.query.outputs)
    return Listing(f"{kind} {asked.name}{begins}", ("column", "type"), rows)
