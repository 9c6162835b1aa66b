"""The Spark session of tests/spark serves here too: a process has one."""

from __future__ import annotations

from tests.spark.conftest import spark

__all__ = ["spark"]
