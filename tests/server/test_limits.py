"""How much one token may: bytes and statements by a clock of the test's own, the rest over HTTP."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sanderling.errors import ServerError
from sanderling.server.http.callers import Flow, Pace
from sanderling.server.rights.tokens import CLIENT, Limits, Token
from tests.server.test_contract import problem
from tests.server.town import Town


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def token_with(**limits: int) -> Token:
    return Token("a", "", "anna", CLIENT, limits=replace(Limits(), **limits))


@given(st.lists(st.tuples(st.integers(0, 5_000), st.floats(0, 3)), min_size=1, max_size=30))
@example([(0, 3.0)] * 9 + [(0, 0.94184802018667)])  # a second behind this time is more than a second away
def test_nobody_gets_more_bytes_than_are_theirs(said: list[tuple[int, float]]) -> None:
    """Who waits as long as is said gets in any time at most a second's worth more than is theirs, and the
    last that was told; who is within it never waits."""
    clock, token = Clock(), token_with(bytes_a_second=1_000)
    flow, told, begun = Flow(clock), 0, clock.now
    for nbytes, pause in said:
        clock.now += pause
        told += nbytes
        waits = flow.seconds_to_wait(token, nbytes)
        assert waits >= 0 and (nbytes or not waits or waits <= told / 1_000)
        clock.now += waits
        assert told <= 1_000 * (clock.now - begun + 1) + 1e-3
    assert flow.seconds_to_wait(replace(token, id="b"), 1_000) == 0, "another token owes nothing"


def test_statements_come_back_with_time() -> None:
    clock, token = Clock(), token_with(statements_a_minute=60)
    pace = Pace(clock)
    pace.take(token, 60)
    with pytest.raises(ServerError) as e:
        pace.take(token, 1)
    assert e.value.code == "limit.statements"
    clock.now += 2
    pace.take(token, 2)
    with pytest.raises(ServerError):
        pace.take(token, 1)


def test_limits_of_a_token_are_given_with_it(town: Town) -> None:
    asked = {"owner": "small", "may_send": True, "limits": {"queries": 1, "sql_bytes": 60, "body_bytes": 10}}
    made = town.operator.post("/api/v1/tokens", json=asked)
    client = town.client(made.json()["token"])
    assert client.get("/api/v1").json()["limits"] == made.json()["limits"]
    assert made.json()["limits"]["subscriptions"] == Limits().subscriptions
    assert client.put("/api/v1/queries/small_1", json={"select": "SELECT id FROM taxis"}).status_code == 201
    more = client.put("/api/v1/queries/small_2", json={"select": "SELECT id FROM taxis"})
    assert problem(more) == (429, "limit.queries")
    long = client.post("/api/v1/sql", json={"sql": "SHOW STREAMS" + " " * 60})
    assert problem(long) == (429, "limit.sql")
    heavy = client.post("/api/v1/streams/taxis/readings", json=[{"id": "heavy"}])
    assert problem(heavy) == (413, "request.too_long")
    assert client.delete("/api/v1/queries/small_1").status_code == 204
    for limits in ({"queries": -1}, {"wings": 2}, {"bytes_a_second": 0}):
        wrong = town.operator.post("/api/v1/tokens", json={"owner": "x", "limits": limits})
        assert problem(wrong) == (400, "session.bad_argument")
