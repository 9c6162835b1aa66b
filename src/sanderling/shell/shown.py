"""Rows as they fit the screen: as a table, or a row at a time."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from sanderling.errors import SanderlingError
from sanderling.shell.behind import Relation, Rows, Update

MOST_ROWS = 1_000
# Narrower than this a column says nothing.
LEAST_WIDTH = 5
GAP = 2
NOTHING = Text("∅", style="dim")


class Screen:
    """Where the shell writes. `is_tall` shows a row at a time."""

    def __init__(self, console: Console):
        self.console = console
        self.is_tall = False

    def say(self, words: str, style: str = "dim") -> None:
        self.console.print(Text(words, style=style), soft_wrap=True)

    def refuse(self, e: SanderlingError) -> None:
        """An error, with its caret where it is."""
        self.console.print(Text(str(e), style="red"), soft_wrap=True)

    def rows(self, shown: Rows) -> None:
        some = shown.rows[:MOST_ROWS]
        if self.is_tall or self._is_too_wide(shown.columns):
            self._tall(shown.columns, some)
        else:
            self._table(shown.columns, some)
        more = len(shown.rows) - len(some)
        at = f", at {shown.tick}" if shown.tick else ""
        count = f"{len(shown.rows):,} row{'' if len(shown.rows) == 1 else 's'}"
        self.say(f"({count}{at}{f'; {more:,} are not shown' if more else ''})")

    def _is_too_wide(self, columns: Sequence[str]) -> bool:
        return len(columns) * (LEAST_WIDTH + GAP) > self.console.width

    def _table(self, columns: Sequence[str], rows: Sequence[Sequence[str | None]]) -> None:
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, GAP, 0, 0))
        texts = [[_one_line(row[number] or "∅") for row in rows] for number in range(len(columns))]
        natural = [max(map(cell_len, (column, *own))) for column, own in zip(columns, texts, strict=True)]
        for column, own, width in zip(
            columns, texts, fitting(natural, self.console.width - GAP), strict=True
        ):
            justify: JustifyMethod = "right" if own and all(map(_is_number, own)) else "left"
            table.add_column(Text(column), justify=justify, width=width, no_wrap=True, overflow="ellipsis")
        for row in rows:
            table.add_row(*(NOTHING if v is None else Text(_one_line(v)) for v in row))
        self.console.print(table)

    def _tall(self, columns: Sequence[str], rows: Sequence[Sequence[str | None]]) -> None:
        wide = max((len(column) for column in columns), default=0)
        for number, row in enumerate(rows, 1):
            self.console.print(Text(f"─ {number}", style="dim"))
            for column, value in zip(columns, row, strict=True):
                name = Text(f"{column:<{wide}}  ", style="bold")
                self.console.print(name + (NOTHING if value is None else Text(value)), soft_wrap=True)

    def update(self, update: Update) -> None:
        sign, style = {1: ("+", "green"), -1: ("−", "red")}.get(update.sign, (" ", "dim"))
        values = "  ".join("∅" if v is None else _one_line(v) for v in update.row)
        line = Text(f"{sign} {values}", style=style, no_wrap=True, overflow="ellipsis")
        self.console.print(
            Text(f"{update.tick}  ", style="dim") + line, no_wrap=True, overflow="ellipsis", crop=True
        )

    def relations(self, found: Sequence[Relation]) -> None:
        rows = tuple((r.name, r.kind, " ".join(r.said.split())) for r in found)
        self.rows(Rows(("name", "kind", "of"), rows))

    def relation(self, relation: Relation) -> None:
        self.say(f"{relation.kind} {relation.name}", "bold")
        self.rows(Rows(("column", "type"), relation.columns))
        if relation.said:
            self.say(" ".join(relation.said.split()))


def fitting(natural: Sequence[int], width: int) -> list[int]:
    """How wide columns are that stand beside each other: the widest give way."""
    widths = [min(n, width) for n in natural]
    while sum(widths) + GAP * (len(widths) - 1) > width and max(widths) > LEAST_WIDTH:
        widths[widths.index(max(widths))] -= 1
    return widths


def _one_line(value: str) -> str:
    return " ".join(value.splitlines())


def _is_number(value: str) -> bool:
    """Also where there is none."""
    try:
        float(value.replace("∅", "0"))
    except ValueError:
        return False
    return True
