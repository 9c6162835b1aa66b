"""The oracle on INSIDE: who comes in and who goes out, of boxes, of what moves, and of tables of regions."""

from . import Area, Box, MovingBox, MovingDisc, Query
from .cases import SQUARE, at, inside, of, told


def test_place_case_1_staying_inside_tells_nothing():
    readings = [at("p", 10, 5, 5), at("p", 20, 6, 6)]
    assert told(readings, [inside(Box(0, 0, 10, 10))]) == [(10, "q", 1, ("p",))]


def test_place_case_2_leaving_tells_minus():
    readings = [at("p", 10, 5, 5), at("p", 20, 11, 6)]
    assert told(readings, [inside(Box(0, 0, 10, 10))]) == [(10, "q", 1, ("p",)), (20, "q", -1, ("p",))]


def test_place_case_3_entering_tells_plus():
    readings = [at("p", 10, 11, 5), at("p", 20, 6, 6)]
    assert told(readings, [inside(Box(0, 0, 10, 10))]) == [(20, "q", 1, ("p",))]


def test_place_case_4_staying_outside_tells_nothing():
    readings = [at("p", 10, 11, 5), at("p", 20, 12, 6)]
    assert told(readings, [inside(Box(0, 0, 10, 10))]) == []


def test_place_figure_2():
    def point(key, ts, x, y):
        return at(key, ts, x, y, kind="point")

    def focal(key, ts, x, y):
        return at(key, ts, x, y, kind="focal")

    def query(name, shape):
        return inside(shape, name, where=lambda values: values["kind"] == "point")

    queries = [
        query("Q1", MovingBox("f1", 4, 4)),
        query("Q2", Box(18, 8, 24, 14)),
        query("Q3", MovingBox("f3", 8, 4)),
        query("Q4", Box(38, 8, 44, 14)),
        query("Q5", MovingBox("f5", 6, 6)),
    ]
    readings = [
        *(focal("f1", 10, 10, 10), focal("f3", 10, 30, 30), focal("f5", 10, 50, 50)),
        *(point("p1", 10, 20, 10), point("p2", 10, 70, 70), point("p3", 10, 40, 10), point("p4", 10, 41, 12)),
        *(point("p5", 10, 9, 10), point("p6", 10, 27, 30), point("p7", 10, 33, 30), point("p8", 10, 37, 30)),
        point("p9", 10, 51, 50),
        *(point("p1", 20, 23, 13), point("p2", 20, 72, 71), point("p3", 20, 43, 9), point("p4", 20, 46, 12)),
        *(focal("f1", 20, 13, 10), focal("f3", 20, 35, 30), focal("f5", 20, 52, 51)),
    ]
    assert told(readings, queries) == [
        *[(10, "Q1", 1, ("p5",)), (10, "Q2", 1, ("p1",))],
        *[(10, "Q3", 1, ("p6",)), (10, "Q3", 1, ("p7",))],
        *[(10, "Q4", 1, ("p3",)), (10, "Q4", 1, ("p4",)), (10, "Q5", 1, ("p9",))],
        *[(20, "Q1", -1, ("p5",)), (20, "Q3", -1, ("p6",)), (20, "Q3", 1, ("p8",)), (20, "Q4", -1, ("p4",))],
    ]


def test_a_join_with_regions_gives_pairs():
    districts = [(Box(0, 0, 5, 5), {"district": "west"}), (Area([(SQUARE, [])]), {"district": "all"})]
    query = Query("q", districts, select=of("id", "district"))
    readings = [at("p", 10, 5, 5), at("p", 20, 6, 5)]
    assert told(readings, [query]) == [
        (10, "q", 1, ("p", "all")),
        (10, "q", 1, ("p", "west")),
        (20, "q", -1, ("p", "west")),
    ]


def test_a_moving_query_is_empty_without_its_focal_object_and_never_holds_it():
    query = inside(MovingDisc("f", 5))
    readings = [at("p", 10, 3, 4), at("f", 20, 0, 0), at("f", 30, 1, 0, gone=True), at("f", 40, 0, 0)]
    assert told(readings, [query]) == [(20, "q", 1, ("p",)), (30, "q", -1, ("p",)), (40, "q", 1, ("p",))]
