"""What apps of trackers send, as their documentation says that they do."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from sanderling.catalog import Stream
from sanderling.server.http.trackers import named, own_tracks_row, traccar_row
from sanderling.session.connect import connect
from tests.server.test_contract import problem
from tests.server.town import Town

LOCATION = {
    "_type": "location", "tid": "an", "lat": 54.5, "lon": 8.25, "tst": 1_714_550_401, "vel": 36, "cog": 90,
    "acc": 5, "batt": 80, "alt": 3, "topic": "owntracks/anna/phone",
}  # fmt: skip
FORWARDED = {
    "position": {
        "id": 7, "deviceId": 3, "fixTime": "2024-05-01T08:00:01.500+00:00", "latitude": 54.5,
        "longitude": 8.25, "speed": 10.0, "course": 180.0, "altitude": 2.0, "accuracy": 4.0, "valid": True,
    },
    "device": {"id": 3, "name": "the tug", "uniqueId": "123456"},
}  # fmt: skip


def stream_of(*columns: str) -> Stream:
    with connect() as session:
        told = ", ".join(columns)
        session.execute(
            f"CREATE STREAM fleet (who STRING, {told}, lon DOUBLE, lat DOUBLE)"
            " KEY who TIME at LOCATION (lon, lat) ON GLOBE"
        )
        return session.streams[0]


def test_a_location_becomes_a_row_of_the_stream() -> None:
    stream = stream_of("at TIMESTAMP", "speed DOUBLE", "Heading DOUBLE")
    row = own_tracks_row(LOCATION, "anna", "tablet")
    assert row is not None
    assert named(stream, row) == {
        "who": "anna/tablet", "at": "2024-05-01T08:00:01Z", "lon": 8.25, "lat": 54.5, "speed": 10.0,
        "Heading": 90,
    }  # fmt: skip
    assert (own_tracks_row(LOCATION, None, None) or {})["key"] == "anna/phone"
    assert (own_tracks_row({**LOCATION, "topic": None}, None, None) or {})["key"] == "an"
    assert own_tracks_row({"_type": "lwt", "tst": 1}, "anna", "tablet") is None


def test_a_forwarded_position_becomes_a_row_of_the_stream() -> None:
    row = named(stream_of("at DOUBLE", "speed DOUBLE"), traccar_row(FORWARDED))
    assert row.pop("speed") == pytest.approx(5.144, abs=1e-3), "knots"
    assert row == {"who": "123456", "at": 1_714_550_401.5, "lon": 8.25, "lat": 54.5}
    assert named(stream_of("at TIMESTAMP"), traccar_row({}))["who"] is None


def test_apps_need_only_an_address(town: Town) -> None:
    """A name and the token as its password; what has no place is a dead letter and no fault."""
    name = town.name()
    town.operator.put(
        f"/api/v1/queries/{name}", json={"select": "SELECT id FROM ships INSIDE (60, 5, 70, 9)"}
    )
    town.tell_ships()
    town.now += 1
    address = f"{town.server.address}api/v1/in/"

    def post(path: str, said: Any, **headers: str) -> httpx.Response:
        return httpx.post(address + path, json=said, headers=headers, auth=("app", town.server.token))

    here = {**LOCATION, "lon": 65, "lat": 7, "tst": town.now}
    phone = post("owntracks/ships", here, **{"X-Limit-U": "anna", "X-Limit-D": "phone"})
    assert (phone.status_code, phone.json()) == (200, [])
    assert post("owntracks/ships", {"_type": "card", "name": "anna"}).json() == []
    moved = {**FORWARDED["position"], "longitude": 66, "fixTime": "2024-05-01T08:00:00Z", "latitude": 7}
    late = post("traccar/ships", {**FORWARDED, "position": moved})
    assert (late.status_code, late.json()) == (202, {"accepted": 1, "refused": 0})
    assert post("traccar/ships", {"device": {}}).json() == {"accepted": 0, "refused": 1}
    assert problem(post("traccar/nowhere", {})) == (404, "request.not_found")
    assert problem(httpx.post(address + "owntracks/ships", json=here)) == (401, "auth.missing")
    town.tell_ships()
    assert town.operator.get(f"/api/v1/queries/{name}/answer").json()["rows"] == [{"id": "anna/phone"}]
    town.operator.delete(f"/api/v1/queries/{name}")
