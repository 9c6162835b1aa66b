"""The page in a browser: ask by drawing, watch, hover, drop; lose the line and go on; see one's own only."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.server.page.visit import Visit, Visits, until

RECTANGLE, NEAREST_TO, NEAREST = "Inside a rectangle", "Nearest to an object", "Nearest to a place"


def test_a_rectangle_is_drawn_watched_and_dropped(anna: Visit, visits: Visits) -> None:
    visits.tell([("in1", -200, 100), ("in2", -150, 150), ("out", 300, 300)])
    anna.drag(RECTANGLE, (-300, 50), (-100, 250))
    sql = anna.page.get_by_label("SQL").input_value()
    assert sql.startswith("SELECT id, x, y, type, heading FROM taxis INSIDE (-")
    name = anna.submit()
    assert anna.api.get(f"/api/v1/queries/{name}").json()["region"]["type"] == "Polygon"
    visits.tell([("in1", -199, 101)])
    until(lambda: anna.keys() == ["in1", "in2"])
    assert anna.drawn() == {"in1": [-199, 101], "in2": [-150, 150]}
    expect(anna.card(name).locator(".size")).to_have_text("2")
    # What is on the map is really painted there: in the query's colour.
    x, y = anna.at((-150, 150))
    clip = {"x": x - 2, "y": y - 2, "width": 4, "height": 4}
    until(lambda: anna.page.screenshot(clip=clip) != anna.page.screenshot(clip={**clip, "x": x + 40}))  # type: ignore[arg-type]

    # From the list to the map, and from the map to the list.
    anna.page.locator(".list-row", has_text="in2").hover()
    until(
        lambda: (
            anna.asks("sanderling.map.chosen") == anna.asks("sanderling.view.slots.get('taxis\\u001ein2')")
        )
    )
    anna.page.mouse.move(*anna.at((-199, 101)))
    expect(anna.page.locator(".tip")).to_contain_text("in1")
    expect(anna.page.locator(".list-row.active")).to_contain_text("in1")

    # Who goes is told with −, and is gone; who comes is there.
    visits.tell([("in1", 400, 0), ("new", -250, 200)])
    until(lambda: anna.keys() == ["in2", "new"])
    assert sorted(anna.drawn()) == ["in2", "new"]
    expect(anna.card(name).locator(".last")).to_have_text("+1 −1")

    anna.page.get_by_role("button", name=f"drop {name}").click()
    until(lambda: anna.names() == [])
    assert anna.drawn() == {}
    assert anna.api.get(f"/api/v1/queries/{name}").status_code == 404


def test_the_nearest_to_an_object_that_moves(anna: Visit, visits: Visits) -> None:
    visits.tell([("bus", 0, 0), ("a", 100, 0), ("b", 200, 0), ("c", -300, 0), ("d", 350, 50)])
    # It is clicked on the map; so that it is there, its surroundings are asked for first.
    anna.drag(RECTANGLE, (-50, -50), (50, 50))
    first = anna.submit()
    visits.tell([("bus", 0, 0)])
    until(lambda: "bus" in anna.drawn())
    anna.page.get_by_role("button", name=NEAREST_TO).click()
    anna.page.mouse.click(*anna.at((0, 0)))
    anna.page.get_by_label("how many").fill("2")
    expect(anna.page.get_by_label("SQL")).to_have_value(
        "SELECT id, x, y, type, heading FROM taxis kNN ('M', 2, 'bus')"
    )
    name = anna.submit()
    visits.tell([("bus", 10, 0)])
    until(lambda: anna.keys() == ["a", "b"])
    visits.tell([("bus", 320, 0)])
    until(lambda: anna.keys() == ["b", "d"])
    # It has left the rectangle: it is no object of a query any more.
    until(lambda: sorted(anna.drawn()) == ["b", "d"])
    assert anna.names() == [first, name]


def test_a_key_that_is_written_gets_a_query_that_shows_it(anna: Visit, visits: Visits) -> None:
    visits.tell([("tram", -400, -200), ("e", -380, -200), ("f", 0, 400)])
    anna.page.get_by_role("button", name="Around an object").click()
    anna.page.get_by_label("within").fill("50")
    anna.page.get_by_label("id of the object").fill("tram")
    name = anna.submit()
    visits.tell([("tram", -390, -200)])
    until(lambda: anna.keys() == ["e"] and sorted(anna.drawn()) == ["e", "tram"])
    assert anna.names() == [name, "object_tram"]
    anna.page.get_by_role("button", name=f"drop {name}").click()
    until(lambda: anna.names() == [])


def test_the_line_breaks_and_nothing_is_lost_or_told_twice(anna: Visit, visits: Visits) -> None:
    visits.tell([("g", -200, -100), ("h", -100, -100)])
    anna.drag(RECTANGLE, (-300, -200), (0, 0))
    anna.submit()
    visits.tell([("g", -201, -100)])
    until(lambda: anna.keys() == ["g", "h"])
    anna.context.set_offline(True)
    anna.asks("sanderling.live.breakOff()")
    expect(anna.page.locator("#link")).to_contain_text("lost")
    told = len(anna.frames)
    visits.tell([("g", 300, 0), ("i", -50, -50)], [("h", -101, -101)])
    anna.context.set_offline(False)
    until(lambda: anna.keys() == ["h", "i"])
    assert anna.drawn() == {"h": [-101, -101], "i": [-50, -50]}
    begun = [said["from"] for said in anna.sent if said["op"] == "subscribe"]
    assert begun[0] == "answer" and "@" in begun[-1], begun
    assert [frame[5] & 1 for frame in anna.frames[told:]] == [0] * (
        len(anna.frames) - told
    )  # no whole answer


def test_two_clients_see_only_their_own(visits: Visits) -> None:
    anna, ben = (visits.of(f"{who} {visits.town.name()}") for who in ("anna", "ben"))
    visits.tell([("annas", -200, 200), ("bens", 200, 200)])
    anna.drag(RECTANGLE, (-300, 100), (-100, 300))
    hers = anna.submit()
    ben.drag(RECTANGLE, (100, 100), (300, 300))
    ben.page.get_by_label("name", exact=True).fill("of_ben")
    his = ben.submit()
    visits.tell([("annas", -201, 200), ("bens", 201, 200)])
    until(lambda: anna.keys() == ["annas"] and ben.keys() == ["bens"])
    assert list(anna.drawn()) == ["annas"] and list(ben.drawn()) == ["bens"]
    assert anna.names() == [hers] and ben.names() == [his]
    assert not any(b"bens" in frame for frame in anna.frames)
    assert not any(b"annas" in frame for frame in ben.frames)
    assert ben.api.delete(f"/api/v1/queries/{hers}").status_code == 404
    expect(ben.page.get_by_role("link", name="Operator")).to_be_hidden()


def test_what_is_written_is_checked_while_it_is_written(anna: Visit) -> None:
    anna.page.get_by_role("button", name=NEAREST).click()
    anna.page.get_by_label("x", exact=True).fill("10")
    anna.page.get_by_label("y", exact=True).fill("20")
    anna.page.get_by_label("only where").fill("type = 'bus'")
    sql = anna.page.get_by_label("SQL")
    expect(sql).to_have_value("SELECT id, x, y, type, heading FROM taxis WHERE type = 'bus' kNN (5, 10, 20)")
    said, submit = anna.page.locator("#ask-say"), anna.page.get_by_role("button", name="Submit")
    expect(submit).to_be_enabled()
    sql.fill("SELECT id FROM taxi\nkNN (5, 10, 20)")
    expect(said).to_contain_text("did you mean")
    expect(said.locator(".place")).to_have_text("SELECT id FROM taxi\n               ^^^^")
    expect(submit).to_be_disabled()
    anna.page.keyboard.press("Escape")
    expect(anna.page.locator("#ask")).to_be_hidden()
    # Whoever knows nothing yet is told what to do, and may try one.
    expect(anna.page.locator("#mine-empty")).to_contain_text("Choose at the edge of the map")
    expect(anna.page.locator("#tools.unfolded")).to_contain_text("Inside a rectangle")
    anna.page.get_by_role("button", name="Try one").click()
    expect(sql).to_have_value("SELECT id, x, y, type, heading FROM taxis kNN (5, 0, 0)")
    expect(submit).to_be_enabled()
    expect(anna.page.locator("#tools.unfolded")).to_have_count(0)
    anna.page.get_by_role("button", name="Cancel").click()
    # The map is moved by keys, too.
    middle = "(([x1, y1, x2, y2]) => [(x1 + x2) / 2, (y1 + y2) / 2, x2 - x1])(sanderling.map.view.box)"
    x, y, width = anna.asks(middle)
    anna.page.locator("#map").focus()
    for key in ("ArrowRight", "ArrowUp", "+"):
        anna.page.keyboard.press(key)
    until(lambda: anna.asks(middle)[2] < 0.9 * width)
    assert anna.asks(middle)[0] > x and anna.asks(middle)[1] > y


def test_an_operator_sees_everything(visits: Visits) -> None:
    operator = visits.of(f"operator {visits.town.name()}", "operator")
    operator.page.get_by_role("link", name="Operator").click()

    def are_there() -> bool:  # what shows all objects begins with a tick, as every query does
        visits.tell([("o1", -100, -300), ("o2", 100, -300)])
        return {"o1", "o2"} <= operator.drawn().keys()

    until(are_there)
    operator.page.mouse.move(*operator.at((100, -300)))
    expect(operator.page.locator(".tip")).to_have_text("o2")
    expect(operator.page.locator("#map-note")).to_contain_text("objects in view")
    operator.page.get_by_label("search queries").fill("ours")
    row = operator.page.locator("#operator .list-row")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("INSIDE (-1, -1, 1, 1)")
    row.click()
    expect(operator.page.locator(".plan")).to_contain_text("deliver: signed rows")
    expect(operator.page.get_by_label("Streams")).to_contain_text("taxis")
    expect(operator.page.get_by_label("Clients")).to_contain_text("operator")
    expect(operator.page.locator(".curve canvas")).to_be_visible()


def test_operators_look_at_what_the_script_asks_and_leave_it(visits: Visits) -> None:
    operator = visits.of(f"operator {visits.town.name()}", "operator")
    operator.page.get_by_role("button", name="look at ours").click()
    until(lambda: operator.names() == ["ours"])
    visits.tell([("o4", 0.5, 0.5)])
    until(lambda: operator.keys() == ["o4"])
    expect(operator.card("ours")).to_contain_text("Not on the map: it does not select id, x and y.")
    operator.page.get_by_role("button", name="hide ours").click()
    until(lambda: operator.names() == [])
    assert operator.api.get("/api/v1/queries/ours").status_code == 200
    assert visits.of(f"ben {visits.town.name()}").page.get_by_role("button", name="look at ours").count() == 0


def test_a_region_that_follows_an_object_is_around_it_for_operators_too(visits: Visits) -> None:
    operator = visits.of(f"operator {visits.town.name()}", "operator")
    select = "SELECT id FROM taxis INSIDE ('M', 'tug', 60, 40)"
    operator.api.put("/api/v1/queries/around_tug", json={"select": select})
    operator.page.get_by_role("link", name="Operator").click()

    def middle() -> list[float]:
        found: list[float] = operator.asks(
            """() => {
                const ring = sanderling.map.regions.map(one => one.rings[0]).find(
                    ring => Math.abs(ring[0][0] - ring[2][0]) === 60);
                return ring ? [(ring[0][0] + ring[2][0]) / 2, (ring[0][1] + ring[2][1]) / 2] : [];
            }"""
        )
        return found

    def is_around(x: float, y: float) -> bool:
        visits.tell([("tug", x, y)])
        return middle() == [x, y]

    until(lambda: is_around(-300, 300))
    until(lambda: is_around(250, -200))


def test_alerts_and_matches_are_told_and_their_triggers_dropped(anna: Visit, visits: Visits) -> None:
    anna.page.get_by_role("button", name="Inside a rectangle").click()
    sql = anna.page.get_by_label("SQL")
    close, seen = f"close_{visits.town.name()}", f"seen_{visits.town.name()}"
    sql.fill(
        f"CREATE TRIGGER {close} FOR 2 OF taxis AS V"
        " WHEN V.x > 700 AND V.x < 800 AND DISTANCE(V) < 5 AND WITHIN 0"
    )
    anna.page.get_by_role("button", name="Submit").click()
    names = anna.page.locator("#alerts-of li")
    expect(names).to_have_count(1)
    anna.page.get_by_role("button", name="Inside a rectangle").click()
    sql.fill(
        f"REGISTER PATTERN {seen} AS WITH a AS (SELECT id FROM taxis INSIDE (700, 0, 710, 10)),"
        " b AS (SELECT id FROM taxis INSIDE (720, 0, 730, 10))"
        " SELECT id, REACHED(b) AS there FROM a THEN b WITHIN 10 SECONDS"
    )
    anna.page.get_by_role("button", name="Submit").click()
    expect(names).to_have_count(2)
    alerts = anna.page.locator("#alerts li")

    def are_told() -> bool:  # nobody holds them: they are told from when the page hears of them on
        visits.tell([("p1", 701, 1)], [("p1", 721, 1), ("p2", 722, 1)])
        return all(alerts.filter(has_text=name).count() for name in (close, seen))

    until(are_told)
    expect(alerts.filter(has_text=close).first).to_contain_text("V1_id p1")
    expect(alerts.filter(has_text=seen).first).to_contain_text("id p1")
    for name in (close, seen):
        anna.page.get_by_role("button", name=f"drop {name}").click()
    expect(names).to_have_count(0)
    assert anna.api.get("/api/v1/queries").json() == []


def test_whoever_does_not_draw_writes(anna: Visit, visits: Visits) -> None:
    sql, hint = anna.page.get_by_label("SQL"), anna.page.locator("#map-hint")
    anna.page.get_by_role("button", name="Inside a circle").click()
    expect(hint).to_have_text("Press at the centre of a circle and drag to its edge.")
    for label, value in (("x", "-5"), ("y", "6"), ("radius", "70")):
        anna.page.get_by_label(label, exact=True).fill(value)
    expect(sql).to_have_value("SELECT id, x, y, type, heading FROM taxis INSIDE (-5, 6, 70)")
    expect(hint).to_be_hidden()
    anna.page.get_by_role("button", name="Inside a polygon").click()
    anna.page.get_by_label("corners").fill("0 0, 10 0, 10 -10.5")
    polygon = "INSIDE POLYGON ((0 0, 10 0, 10 -10.5, 0 0))"
    expect(sql).to_have_value(f"SELECT id, x, y, type, heading FROM taxis {polygon}")
    # A finger has no double click: what is drawn by points has a button for its end.
    anna.page.get_by_role("button", name="Inside a polygon").click()
    anna.page.get_by_role("button", name="Inside a polygon").click()
    for corner in ((0, 0), (200, 0), (0, 200)):
        anna.page.mouse.click(*anna.at(corner))
    anna.page.locator("#map-hint button", has_text="Done").click()
    expect(anna.page.get_by_label("corners")).to_have_value(re.compile("^-?[0-9. ]+(, -?[0-9. ]+){2}$"))
    # A region that has a name is shown before it is asked about.
    anna.page.get_by_role("button", name="Inside a region by name").click()
    anna.page.locator("#ask-fields select").select_option("center")
    expect(sql).to_have_value("SELECT id, x, y, type, heading FROM taxis INSIDE center")
    assert anna.asks("sanderling.map.drafted.rings[0].length") == 65
    anna.page.get_by_role("button", name="Along a line").click()
    anna.page.get_by_label("points").fill("0 0, 10 0")
    anna.page.get_by_label("within").fill("3")
    line = "INSIDE ON LINE (0 0, 10 0) WITHIN 3"
    expect(sql).to_have_value(f"SELECT id, x, y, type, heading FROM taxis {line}")
    expect(anna.page.get_by_role("button", name="Submit")).to_be_enabled()


def test_a_phone_shows_map_and_panels_below_each_other(anna: Visit, visits: Visits) -> None:
    anna.page.set_viewport_size({"width": 375, "height": 700})
    map_, side = anna.page.locator("#map").bounding_box(), anna.page.locator("#side").bounding_box()
    assert map_ and side and map_["width"] == 375 == side["width"] and side["y"] >= map_["y"] + map_["height"]
    assert anna.asks("document.documentElement.scrollWidth") == 375
    boss = visits.of(f"operator {visits.town.name()}", "operator")
    boss.page.set_viewport_size({"width": 375, "height": 700})
    visits.tell()
    theme = boss.page.locator("#theme").bounding_box()
    assert theme and theme["x"] + theme["width"] <= 375, "what stands in the head has room there"
