"""Conditions as planning gives them, made of SQL over columns under the names that evaluation has."""

from __future__ import annotations

import re

import sqlglot

from sanderling.plan.expressions.comparisons import comparisons_in
from sanderling.plans.expression import Expression
from sanderling.types import TYPES


def condition(sql: str) -> Expression:
    reads = frozenset(re.findall(r'"([rqn]:\w+)"', sql))
    comparisons = comparisons_in(sqlglot.parse_one(sql, read="duckdb"))
    return Expression(sql, TYPES["BOOLEAN"], reads, comparisons=comparisons)
