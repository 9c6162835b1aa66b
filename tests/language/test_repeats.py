"""Reading what repeats once makes no difference: the same queries, the same errors."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, given, settings

from tests.language.scripts_alike import outcome, scripts

MANY = 20_000 if os.environ.get("SANDERLING_LONG") else 150


@settings(max_examples=MANY, deadline=None, suppress_health_check=list(HealthCheck))
@given(scripts())
def test_a_script_is_the_same_read_at_once_or_one_by_one(script: str) -> None:
    assert outcome(script, False) == outcome(script, True)
