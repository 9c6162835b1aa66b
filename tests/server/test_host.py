"""What a trial leaves behind: nothing. No Spark is started."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from sanderling.errors import QueryError
from sanderling.session.connect import connect
from sanderling.session.host import Host
from tests.server.town import SCRIPT


@pytest.fixture
def host() -> Iterator[Host]:
    with connect() as session:
        session.execute(SCRIPT)
        yield Host(session)


def state_of(host: Host) -> tuple[object, ...]:
    seen = host.seen()
    names = [sorted(x.name for x in part) for part in (seen.streams, seen.tables, seen.members)]
    return *map(tuple, names), tuple(sorted(seen.regions)), len(seen.plan.queries)


def test_a_trial_tells_what_would_come_and_leaves_all_as_it_was(host: Host) -> None:
    before = state_of(host)
    found = host.trial(
        "CREATE REGION west AS CIRCLE (-5, 0, 2); REGISTER QUERY w AS SELECT id FROM taxis INSIDE west;"
        "DROP QUERY ours; CREATE STREAM more (id INT, ts INT, x INT, y INT) KEY id TIME ts LOCATION (x, y);"
        "SHOW QUERIES"
    )
    assert [m.name for m in found.registered] == ["w"] and found.dropped == ("ours",)
    assert [row[0] for row in found.listings[0].rows] == ["w"]
    assert state_of(host) == before
    with pytest.raises(QueryError):
        host.trial("DROP QUERY ours; REGISTER QUERY w AS SELECT id FROM nowhere")
    assert state_of(host) == before
    host.run("DROP QUERY ours")
    assert state_of(host) != before


def test_nobody_changes_anything_between_a_look_and_the_deed(host: Host) -> None:
    done = threading.Event()

    def drop() -> None:
        host.run("DROP QUERY ours")
        done.set()

    other = threading.Thread(target=drop)
    with host.alone():
        host.trial("SHOW QUERIES")
        other.start()
        assert not done.wait(0.2), "it waits as long as we are alone"
        assert host.member("ours") is not None
    other.join(30)
    assert done.is_set() and host.member("ours") is None
