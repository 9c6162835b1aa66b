"""CREATE STREAM and CREATE TABLE, checked: columns, types, clauses, options."""

from __future__ import annotations

from collections.abc import Callable

from sanderling.catalog import Column, Stream, TableForm, Written
from sanderling.clock import duration_us, show_duration, tick_end
from sanderling.errors import QueryError, SanderlingError, did_you_mean
from sanderling.ingest.infer import Roles
from sanderling.ingest.types.time_format import HINT, regex_of
from sanderling.language.grammar.dialect import unknown_type
from sanderling.language.statements import ColumnDef, CreateStream, CreateTable, Name, Span, Value
from sanderling.types import LARGEST, type_named

WRITTEN_OPTIONS = ("delimiter", "null_tokens", "time_format")
STREAM_OPTIONS = (
    "path", "format", "tick", "lateness", "stale_after", "partition", "idle_after", "ahead", *WRITTEN_OPTIONS,
)  # fmt: skip
TABLE_OPTIONS = ("path", "format", "within", "globe", "repair", "skip", "key", *WRITTEN_OPTIONS)
QUERIES_OPTIONS = ("format",)
IDLE_AFTER_US = 10_000_000  # a silent partition delays all others by so much
FORMATS = ("csv", "json", "parquet")
# Names that mean something else inside a query.
RESERVED = ("location", "region")
# How columns begin that a reading carries beside its own.
INTERNAL = "__"

# The columns of a path's files: its format if one is declared, how they are written, what columns are for.
Infer = Callable[[str, str, Written, Roles], tuple[Column, ...]]
Refuse = Callable[[str, str, str, Span], QueryError]


def unit_on_plane(hint: str = "LOCATION (lon, lat) ON GLOBE") -> tuple[str, str, str]:
    """What is wrong with a unit, and what would be right."""
    return (
        "query.unit_on_plane",
        "a plane has no units of distance",
        f"declare it with {hint}, or leave it out",
    )


class Declarations:
    """Turns a CREATE into a declaration, or says what is wrong with it and where."""

    def __init__(self, text: str):
        self.text = text

    def refuse(self, code: str, message: str, hint: str, span: Span) -> QueryError:
        return QueryError(code, message, hint, span.place_in(self.text))

    def stream(self, statement: CreateStream, infer: Infer | None = None) -> Stream:
        """`infer` tells the columns of its files where none are declared."""
        columns = self.columns(statement.columns)
        options = self.options(statement.options, STREAM_OPTIONS)
        written = self.written(options)
        path = self.text_option(options, "path")
        if not columns and path is not None and infer is not None:
            columns = self._inferred(statement, path, options, written, infer)
        if not columns:
            raise self.refuse(
                "query.missing_clause",
                "a stream declares its columns",
                "add (column TYPE, …), or a path to tell them from",
                statement.name.span,
            )
        key = self._column(statement.key, columns, "KEY")
        self._must_tell_apart(key, statement.key)
        time = self._column(statement.time, columns, "TIME")
        is_time = time.type.name in ("TIMESTAMP", "DATE") or time.type.is_number
        self._must_be(time, statement.time, "a TIMESTAMP or a number of seconds", is_time)
        x, y = (self._column(n, columns, "LOCATION") for n in statement.location)
        for column, name in ((x, statement.location[0]), (y, statement.location[1])):
            self._must_be(column, name, "a number", column.type.is_number)
        gone = self._column(statement.gone, columns, "GONE") if statement.gone else None
        if gone is not None and statement.gone is not None:
            self._must_be(gone, statement.gone, "a BOOLEAN", gone.type.name == "BOOLEAN")
        gone_names = [statement.gone] if statement.gone else []
        names = [statement.key, statement.time, *statement.location, *gone_names]
        self._refuse_twice(names, "KEY, TIME, LOCATION and GONE")
        tick = self._duration(options, "tick", 1_000_000)
        if tick == 0:
            raise self.refuse(
                "query.bad_option", "a tick cannot be 0", "tick = '1 second'", options["tick"].span
            )
        stale = self._duration(options, "stale_after", 0) if "stale_after" in options else None
        partition = self._partition(options, columns)
        return Stream(
            statement.name.text, columns, key.name, time.name, x.name, y.name, gone.name if gone else None,
            path, self.format_option(options), tick,
            self._duration(options, "lateness", 0), stale, partition,
            self._duration(options, "idle_after", IDLE_AFTER_US) if partition else None,
            self._duration(options, "ahead", 0) if "ahead" in options else None, statement.is_globe, written,
        )  # fmt: skip

    def _inferred(
        self, statement: CreateStream, path: str, options: dict[str, Value], written: Written, infer: Infer
    ) -> tuple[Column, ...]:
        names = (statement.key, statement.time, *statement.location)
        key, time, *place = (name.text.casefold() for name in names)
        roles = Roles(key, time, tuple(place), statement.gone.text.casefold() if statement.gone else None)
        try:
            return infer(path, self.format_option(options), written, roles)
        except SanderlingError as e:
            hint = e.hint or "mend the file, or declare the columns"
            raise type(e)(e.code, e.message, hint, options["path"].span.place_in(self.text)) from e

    # ----- how files are written

    def written(self, options: dict[str, Value]) -> Written:
        delimiter = self.text_option(options, "delimiter") or ","
        delimiter = "\t" if delimiter in ("tab", "\\t") else delimiter
        if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
            raise self.refuse(
                "query.bad_option", "a delimiter is one character, and no quote",
                "delimiter = ';', '|' or 'tab'", options["delimiter"].span,
            )  # fmt: skip
        tokens = self.text_option(options, "null_tokens")
        pattern = self.text_option(options, "time_format")
        if pattern is not None:
            try:
                regex_of(pattern)
            except ValueError as e:
                span = options["time_format"].span
                raise self.refuse(
                    "query.bad_option", f"time_format is not understood: {e}", HINT, span
                ) from e
        nothing = () if tokens is None else tuple(token.strip() for token in tokens.split(","))
        return Written(delimiter, nothing, pattern)

    def table_form(self, options: dict[str, Value]) -> TableForm:
        """How a table's file is read."""
        row_key = self.text_option(options, "key")
        if row_key is not None and row_key.casefold() in RESERVED:
            message, hint = f'"{row_key}" has a meaning of its own in queries', "key = 'row'"
            raise self.refuse("query.reserved_name", message, hint, options["key"].span)
        return TableForm(
            self.written(options), self.size_option(options, "within"), self.flag_option(options, "repair"),
            self.flag_option(options, "skip"), row_key,
        )  # fmt: skip

    def flag_option(self, options: dict[str, Value], key: str) -> bool:
        value = options.get(key)
        if value is not None and not isinstance(value.value, bool):
            message = f"{key} is true or false"
            raise self.refuse("query.bad_option", message, f"{key} = true", value.span)
        return value is not None and bool(value.value)

    def _partition(self, options: dict[str, Value], columns: tuple[Column, ...]) -> str | None:
        """The column that says from which partition of its source a reading came."""
        text = self.text_option(options, "partition")
        if text is None:
            if "idle_after" in options:
                message, hint = "idle_after is for partitions that are known", "add partition = 'column'"
                raise self.refuse("query.bad_option", message, hint, options["idle_after"].span)
            return None
        name = Name(text, options["partition"].span)
        if "path" in options:
            message, hint = "files are read in one order, and have no partitions", "leave partition out"
            raise self.refuse("query.bad_option", message, hint, name.span)
        column = self._column(name, columns, "partition")
        self._must_tell_apart(column, name)
        return column.name

    def table_columns(self, statement: CreateTable) -> tuple[Column, ...] | None:
        columns = self.columns(statement.columns)
        if columns:
            self.table_place(statement, columns)
            self._column(statement.key, columns, "KEY")
        return columns or None

    def table_place(self, statement: CreateTable, columns: tuple[Column, ...]) -> tuple[str, str] | None:
        """The columns of its LOCATION, once the columns are known: before the file is read where they are
        declared, after it elsewhere.
        """
        if statement.location is None:
            return None
        x, y = (self._column(name, columns, "LOCATION") for name in statement.location)
        for column, name in zip((x, y), statement.location, strict=True):
            self._must_be(column, name, "a number", column.type.is_number)
        self._refuse_twice([statement.key, *statement.location], "KEY and LOCATION")
        return x.name, y.name

    def columns(self, definitions: tuple[ColumnDef, ...]) -> tuple[Column, ...]:
        columns: list[Column] = []
        for definition in definitions:
            name = definition.name
            if any(c.name.casefold() == name.text.casefold() for c in columns):
                raise self.refuse(
                    "query.duplicate_column", f'two columns are named "{name.text}"', "rename one", name.span
                )
            if name.text.casefold() in RESERVED or name.text.startswith(INTERNAL):
                hint = "rename the column"
                raise self.refuse(
                    "query.reserved_name",
                    f'"{name.text}" has a meaning of its own in queries',
                    hint,
                    name.span,
                )
            type_ = type_named(definition.type.text)
            if type_ is None:
                message, hint = unknown_type(definition.type.text)
                raise self.refuse("query.unknown_type", message, hint, definition.type.span)
            columns.append(Column(name.text, type_))
        return tuple(columns)

    def _column(self, name: Name, columns: tuple[Column, ...], clause: str) -> Column:
        for column in columns:
            if column.name.casefold() == name.text.casefold():
                return column
        hint = did_you_mean(name.text, [c.name for c in columns]) or "name one of its columns"
        raise self.refuse(
            "query.unknown_column", f'{clause} names "{name.text}", which is no column', hint, name.span
        )

    def _must_be(self, column: Column, name: Name, what: str, holds: bool) -> None:
        if not holds:
            message = f'"{column.name}" is {column.type.name}, it has to be {what}'
            raise self.refuse("query.wrong_type", message, "declare it with another type", name.span)

    def _must_tell_apart(self, column: Column, name: Name) -> None:
        """Objects, or partitions."""
        is_one = column.type.is_integer or column.type.name == "STRING"
        self._must_be(column, name, "a STRING or an integer", is_one)

    def _refuse_twice(self, names: list[Name], clauses: str) -> None:
        seen: set[str] = set()
        for name in names:
            if name.text.casefold() in seen:
                message = f'"{name.text}" is used twice among {clauses}'
                raise self.refuse("query.duplicate_role", message, "name another column", name.span)
            seen.add(name.text.casefold())

    # ----- options

    def options(self, options: dict[str, tuple[Name, Value]], known: tuple[str, ...]) -> dict[str, Value]:
        for key, (name, _) in options.items():
            if key not in known:
                hint = did_you_mean(name.text, known) or "options: " + ", ".join(known)
                raise self.refuse(
                    "query.unknown_option", f'no option is named "{name.text}"', hint, name.span
                )
        return {key: value for key, (_, value) in options.items()}

    def text_option(self, options: dict[str, Value], key: str) -> str | None:
        if key not in options:
            return None
        value = options[key]
        if not isinstance(value.value, str) or not value.value:
            raise self.refuse("query.bad_option", f"{key} is a text in quotes", f"{key} = '…'", value.span)
        return value.value

    def size_option(self, options: dict[str, Value], key: str) -> float | None:
        if key not in options:
            return None
        value = options[key]
        if isinstance(value.value, str | bool) or not 0 <= value.value <= LARGEST:
            hint = f"{key} = 5"
            raise self.refuse("query.bad_option", f"{key} is a number, 0 or more", hint, value.span)
        return float(value.value)

    def globe_option(self, statement: CreateTable, options: dict[str, Value]) -> bool:
        """Whether a table lies on the globe: LOCATION says so; of regions this option."""
        value, is_said = options.get("globe"), self.flag_option(options, "globe")
        if value is not None and statement.location is not None and value.value != statement.is_globe:
            hint = "write LOCATION (lon, lat) ON GLOBE"
            raise self.refuse("query.bad_option", "a table with LOCATION says it there", hint, value.span)
        is_globe = statement.is_globe or is_said
        within = options.get("within")
        if within is not None and within.unit is not None and not is_globe:
            raise self.refuse(*unit_on_plane("globe = true"), within.unit)
        return is_globe

    def format_option(self, options: dict[str, Value], known: tuple[str, ...] = FORMATS) -> str:
        text = self.text_option(options, "format")
        if text is not None and text.lower() not in known:
            hint = "formats: " + ", ".join(known)
            raise self.refuse(
                "query.bad_option", f'no format is named "{text}"', hint, options["format"].span
            )
        return text.lower() if text else ""

    def duration_option(self, options: dict[str, Value], key: str, default: int) -> int:
        """More than none."""
        found = self._duration(options, key, default)
        if key in options and found == 0:
            raise self.refuse(
                "query.bad_option", f"{key} cannot be 0", f"{key} = '1 hour'", options[key].span
            )
        return found

    def multiple_option(
        self, options: dict[str, Value], key: str, default: int, of_us: int, what: str
    ) -> int:
        """A duration that is so many times another; the default is made so."""
        if key not in options:
            return tick_end(max(default, of_us), of_us)
        found = self.duration_option(options, key, default)
        if found % of_us:
            hint = f"{what} is {show_duration(of_us)}: take some of them"
            message = f"{key} is no multiple of {what}: {options[key].value}"
            raise self.refuse("query.bad_option", message, hint, options[key].span)
        return found

    def count_option(self, options: dict[str, Value], key: str, default: int) -> int:
        if key not in options:
            return default
        value = options[key]
        if type(value.value) is not int or not 1 <= value.value < 2**31:
            hint = f"{key} = 10"
            raise self.refuse("query.bad_option", f"{key} is a whole number, 1 or more", hint, value.span)
        return value.value

    def word_option(self, options: dict[str, Value], key: str, known: tuple[str, ...]) -> str:
        """One of these; the first, where nothing is said."""
        text = self.text_option(options, key)
        if text is not None and text.lower() not in known:
            hint = " or ".join(f"{key} = '{word}'" for word in known)
            raise self.refuse("query.bad_option", f'{key} is not "{text}"', hint, options[key].span)
        return known[0] if text is None else text.lower()

    def _duration(self, options: dict[str, Value], key: str, default: int) -> int:
        if key not in options:
            return default
        value = options[key]
        try:
            duration = None if isinstance(value.value, bool) else duration_us(value.value)
        except OverflowError:
            duration = None
        if duration is None or duration < 0 or duration > 2**52:
            hint = f"{key} = '5 seconds', '500 ms', '10 minutes', or a number of seconds"
            raise self.refuse("query.bad_option", f"{key} is not a duration: {value.value}", hint, value.span)
        return duration
