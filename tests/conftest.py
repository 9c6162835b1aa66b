"""What all tests share."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from tests.long import drawn
from tests.recovery.runs import killed, undisturbed, world

__all__ = ["killed", "undisturbed", "world"]

# The first example compiles the kernels.
settings.register_profile("sanderling", deadline=None, print_blob=True, max_examples=drawn(40, 1000))
settings.load_profile("sanderling")

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true", help="rewrite the expected part of test scripts")


@pytest.fixture
def accept(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--accept"))
