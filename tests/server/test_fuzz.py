"""Requests that nobody would write, made from what /openapi.json says: answered as it says, or refused so."""

from __future__ import annotations

import json
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import CHECKS, load_all_checks, not_a_server_error

from tests.long import drawn
from tests.server.town import Town, heard, said

MODES = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
CHECKED = ("status_code_conformance", "content_type_conformance", "response_schema_conformance")
# What has no end is asked for up to a tick that is over.
ENDLESS, OVER = "/api/v1/queries/{name}/updates", "2024-05-01T07:00:00Z"
FORMS = ("application/json", "text/event-stream", "application/vnd.apache.arrow.stream", "text/csv", "*/*")


def asked(case: Case, accept: str) -> dict[str, Any]:
    if case.operation.path == ENDLESS:
        case.query = {**(case.query or {}), "until": OVER}
    return {"Accept": accept}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 2**40) | st.floats() | st.text(max_size=20)
    | st.sampled_from(["answer", "now", "1@2024-05-01T08:00:00Z", "ours", "taxis", "upsert"]),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
FIELDS = ("channel", "query", "from", "envelope", "stream", "box", "pixel", "most")
MESSAGES = st.builds(
    lambda op, fields: {**fields, "op": op},
    st.sampled_from(["subscribe", "unsubscribe", "view", "ping", "hello"]) | VALUES,
    st.dictionaries(st.sampled_from(FIELDS), VALUES | st.integers(0, 3), max_size=6),
)


@pytest.mark.parametrize("role", ["operator", "client"])
def test_whatever_is_said_to_a_socket_it_goes_on(town: Town, role: str) -> None:
    with town.socket(town.token(f"fuzz {role}", role), max_size=None) as socket:
        heard(socket, "hello")

        @settings(max_examples=drawn(20, 3_000), deadline=None, database=None)
        @given(st.lists(MESSAGES | st.text(max_size=30) | st.binary(max_size=30), max_size=8))
        def say(messages: list[object]) -> None:
            for message in messages:
                socket.send(json.dumps(message) if isinstance(message, dict) else message)  # type: ignore[arg-type]
            said(socket, op="ping")
            for told in heard(socket, "pong", 10_000):
                assert not isinstance(told, dict) or not str(told.get("code")).startswith("internal."), told

        say()
        for channel in range(4):
            said(socket, op="unsubscribe", channel=channel)


@pytest.mark.parametrize("role", ["operator", "client"])
def test_whatever_is_asked_is_answered_as_the_api_says(town: Town, role: str) -> None:
    """By the statuses, media and schemas that are told, with no fault of ours; a refusal has a code."""
    load_all_checks()
    checks = [not_a_server_error, *CHECKS.get_by_names(CHECKED)]
    schema = schemathesis.openapi.from_dict(town.operator.get("/openapi.json").json())
    client = town.client(town.token(f"fuzz {role}", role))
    headers = {"Authorization": client.headers["Authorization"]}
    seen = set[int]()
    for found in schema.get_all_operations():
        operation = found.ok()
        cases = st.one_of(*(operation.as_strategy(generation_mode=mode) for mode in MODES))

        @settings(
            max_examples=drawn(4, 400), deadline=None, database=None,
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(case=cases, accept=st.sampled_from(FORMS))
        def ask(case: Case, accept: str) -> None:
            more = asked(case, accept)
            answer = case.call(base_url=town.server.address, headers={**headers, **more}, timeout=60)
            case.validate_response(answer, checks=checks)
            seen.add(answer.status_code)
            if answer.status_code >= 400 and answer.headers["content-type"] == "application/problem+json":
                assert "." in answer.json()["code"]

        ask()
    assert {200, 400, 404} <= seen
    assert client.get("/api/v1").status_code == 200, "and it is there still"
