"""A town small enough to be looked at from all sides."""

from __future__ import annotations

import pytest

from sanderling.simulate.city import make_city
from sanderling.simulate.network import Network


@pytest.fixture(scope="session")
def town() -> Network:
    return make_city(1, radius_m=1_000)
