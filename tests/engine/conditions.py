"""Conditions as planning gives them, made of SQL over columns under the names that evaluation has."""

from __future__ import annotations

import re

from sanderling.plans.expression import Expression
from sanderling.types import TYPES


def condition(sql: str) -> Expression:
    return Expression(sql, TYPES["BOOLEAN"], frozenset(re.findall(r'"([rqn]:\w+)"', sql)))
