"""An answer as whoever asked has it in hand: an Arrow table that notebooks show and other libraries take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sanderling.errors import ConfigError, SessionError
from sanderling.session.pages import html_table, text_table

if TYPE_CHECKING:
    import geopandas
    import polars


class Answer:
    """Rows of a query. Whatever a `pyarrow.Table` can, it can; `table` is one.

    Promises (tests/session/test_answer.py): it is what the table is; DuckDB, Polars and pandas take it.
    """

    def __init__(self, table: pa.Table, place: tuple[str, str] | None = None, is_globe: bool = False):
        """`place` names the columns that say where a row is."""
        self.table = table
        self._place, self._is_globe = place, is_globe

    # ----- as a table

    def __getattr__(self, name: str) -> Any:
        if (
            name.startswith("__") or name == "table"
        ):  # what copying and pickling look for, before there is one
            raise AttributeError(name)
        return getattr(self.table, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self.table)})

    def __getitem__(self, key: Any) -> Any:
        return self.table[key]

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.table)

    def __eq__(self, other: object) -> bool:
        return bool(self.table == (other.table if isinstance(other, Answer) else other))

    __hash__ = None  # type: ignore[assignment]  # as a table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self.table.schema.__arrow_c_schema__()

    def __dataframe__(self, *arguments: Any, **named: Any) -> Any:
        return self.table.__dataframe__(*arguments, **named)

    def __reduce__(self) -> tuple[object, ...]:
        return Answer, (self.table, self._place, self._is_globe)

    # ----- for others

    def to_polars(self) -> polars.DataFrame:
        try:
            import polars
        except ImportError as e:
            raise _not_installed("polars") from e
        found: polars.DataFrame = polars.from_arrow(self.table)
        return found

    def to_geopandas(self, x: str | None = None, y: str | None = None) -> geopandas.GeoDataFrame:
        """With a point a row: of the columns of the stream's location, or of those that are named."""
        place = self._place if x is None or y is None else (x, y)
        if place is None or not set(place) <= set(self.table.column_names):
            raise SessionError(
                "session.bad_argument",
                "the rows have no place",
                'select the location, or to_geopandas("x", "y")',
            )
        try:
            import geopandas
        except ImportError as e:
            raise _not_installed("geopandas") from e
        frame = self.table.to_pandas()
        points = geopandas.points_from_xy(frame[place[0]], frame[place[1]])
        return geopandas.GeoDataFrame(frame, geometry=points, crs="EPSG:4326" if self._is_globe else None)

    # ----- as it is shown

    def __repr__(self) -> str:
        return text_table(self.table)

    def _repr_html_(self) -> str:
        return html_table(self.table)


def _not_installed(name: str) -> ConfigError:
    return ConfigError("config.not_installed", f"{name} is not installed", f"pip install {name}")
