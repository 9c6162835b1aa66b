"""What the mix-ins of the dialect's parser may call: of sqlglot's parser, and of each other."""

from __future__ import annotations

from typing import Any, ClassVar


class Mixin:
    """A part of a sqlglot parser; it declares names, and has nothing itself."""

    sql: str
    _curr: Any
    _prev: Any
    _next: Any
    _tokens: Any
    _index: Any
    JOIN_METHODS: ClassVar[Any]
    JOIN_SIDES: ClassVar[Any]
    JOIN_KINDS: ClassVar[Any]
    QUERY_MODIFIER_PARSERS: ClassVar[Any]
    expression: Any
    raise_error: Any
    _advance: Any
    _match: Any
    _match_l_paren: Any
    _match_r_paren: Any
    _match_text_seq: Any
    _parse_bitwise: Any
    _parse_column: Any
    _parse_csv: Any
    _parse_disjunction: Any
    _parse_expressions: Any
    _parse_select: Any
    _parse_set_operations: Any
    _parse_unary: Any
    _parse_where: Any
    # Of our own.
    asked_at: int
    refuse: Any
    _expect: Any
    _name: Any
    _one_of: Any
    _options: Any
    _span_from: Any
    _value: Any
    _finite: Any
    _finite_value: Any
    _finite_of: Any
    _not_negative: Any
    _focal: Any
    _inside_of: Any
    _distance_value: Any
    _with_unit: Any
    _unit_of_distance: Any
    _is_coverage: Any
    _is_number: Any
    _parse_coverage: Any
    _parse_inside_target: Any
    _parse_region: Any
    _given: Any
    _is_synchronize: Any
    _parse_synchronize: Any
    _pattern_report: Any
    _pattern_skips: Any
    _pattern_step: Any
    _refuse_options: Any
    _points: Any
    _parse_delete_from_archive: Any
    _parse_given: Any
    _parse_persistency: Any
    _parse_select_here: Any
    _parse_whole_query: Any
    _stay: Any
