"""An answer in hand: as the table it is, as others take it, and as a notebook shows it. No Spark."""

from __future__ import annotations

import copy
import pickle
import sys

import duckdb
import pyarrow as pa
import pytest

from sanderling.errors import ConfigError, SessionError
from sanderling.session.answer import Answer
from sanderling.session.connect import connect
from sanderling.session.subscription import Subscription

TABLE = pa.table({"id": ["anna", "<b>ben</b>"], "lon": [13.4, 2.3], "lat": [52.5, None]})
ANSWER = Answer(TABLE, ("lon", "lat"), is_globe=True)


def test_it_is_the_table_that_it_holds() -> None:
    assert ANSWER.num_rows == len(ANSWER) == 2 and ANSWER.column_names == ["id", "lon", "lat"]
    assert ANSWER["id"].to_pylist() == TABLE["id"].to_pylist() == ANSWER.column(0).to_pylist()
    assert ANSWER.to_pydict() == TABLE.to_pydict() and ANSWER.to_pylist() == TABLE.to_pylist()
    assert ANSWER == TABLE and Answer(TABLE) == ANSWER and ANSWER != 3 and "num_rows" in dir(ANSWER)
    assert [c.to_pylist() for c in ANSWER] == [c.to_pylist() for c in TABLE.columns]
    assert pickle.loads(pickle.dumps(ANSWER)) == ANSWER == copy.deepcopy(ANSWER)
    with pytest.raises(AttributeError):
        _ = ANSWER.no_such_thing


def test_others_take_it() -> None:
    assert pa.table(ANSWER) == TABLE and pa.concat_tables([pa.table(ANSWER)] * 2).num_rows == 4
    assert duckdb.sql("SELECT max(lon) FROM ANSWER").fetchall() == [(13.4,)]
    assert list(ANSWER.to_pandas().columns) == ["id", "lon", "lat"]


@pytest.mark.parametrize("name", ["polars", "geopandas"])
def test_what_is_not_installed_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ConfigError) as e:
        ANSWER.to_polars() if name == "polars" else ANSWER.to_geopandas()
    assert e.value.code == "config.not_installed" and name in e.value.hint


def test_rows_without_a_place_are_no_points() -> None:
    for answer, names in ((Answer(TABLE), ()), (ANSWER, ("x", "y"))):
        with pytest.raises(SessionError):
            answer.to_geopandas(*names)


def test_it_is_shown() -> None:
    assert repr(ANSWER).splitlines() == [
        "id          lon   lat", "anna        13.4  52.5", "<b>ben</b>  2.3   null", "2 rows",
    ]  # fmt: skip
    page = ANSWER._repr_html_()
    assert "<td>&lt;b&gt;ben&lt;/b&gt;</td>" in page and "<b>ben" not in page and "2 rows" in page
    many = Answer(pa.table({"a": list(range(1000)), "b": ["x" * 1000] * 1000}))
    assert "1,000 rows, of which 20 are shown" in repr(many) and len(repr(many)) < 3000
    assert (
        "1,000 rows, of which 50 are shown" in many._repr_html_() and repr(Answer(pa.table({}))) == "\n0 rows"
    )


def test_a_session_and_a_subscription_are_shown() -> None:
    with connect() as session:
        session.execute(
            "CREATE STREAM `<s>` (id STRING, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y)"
        )
        session.register("q", "SELECT id FROM `<s>` WHERE x < 3")
        assert repr(session) == "<Session: not started; 1 stream, 1 query>"
        page = session._repr_html_()
        assert "&lt;s&gt;" in page and "<s>" not in page and "x &lt; 3" in page and "nothing yet" in page
    assert "stopped" in repr(session)
    subscription = Subscription("q<", 1)
    assert repr(subscription) == "<Subscription of 'q<': 0 rows waiting, it goes on>"
    subscription.give(pa.table({"a": [1, 2]}))
    assert "it fell behind" in subscription._repr_html_() and "q&lt;" in subscription._repr_html_()
    subscription.close()
