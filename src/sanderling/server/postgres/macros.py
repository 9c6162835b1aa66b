"""Functions of PostgreSQL that DuckDB does not have, or has for a catalog of its own."""

from __future__ import annotations

from sanderling.server.postgres.types import KNOWN, MORE_TYPES

TRUE = """
pg_table_is_visible(x); pg_type_is_visible(x); pg_function_is_visible(x); pg_relation_is_publishable(x);
pg_statistics_obj_is_visible(x); pg_collation_is_visible(x); has_any_column_privilege(x, y);
has_database_privilege(x, y); has_function_privilege(x, y)
"""
NOTHING = """
pg_get_expr(x, y); pg_get_expr(x, y, z); pg_get_constraintdef(x); pg_get_constraintdef(x, y);
pg_get_indexdef(x); pg_get_indexdef(x, y, z); pg_get_viewdef(x); pg_get_viewdef(x, y);
obj_description(x); obj_description(x, y); col_description(x, y); shobj_description(x, y);
pg_get_serial_sequence(x, y); pg_get_statisticsobjdef_columns(x); pg_get_functiondef(x);
pg_get_triggerdef(x, y); pg_get_ruledef(x, y); pg_relation_filenode(x); pg_get_function_result(x);
pg_get_function_arguments(x); pg_tablespace_location(x); pg_get_partkeydef(x); inet_server_port()
"""
FORMATS = " ".join(f"WHEN {oid} THEN '{said}'" for oid, (_, _, said) in KNOWN.items())
MORE_FORMATS = " ".join(f"WHEN {oid} THEN '{name}'" for oid, name in MORE_TYPES.items())


def _heads(text: str) -> list[str]:
    return [head for line in text.strip().split(";") if (head := " ".join(line.split()))]


def _macros() -> list[str]:
    """Functions of PostgreSQL that DuckDB does not have, or has for its own catalog."""
    found: dict[str, list[str]] = {}

    def add(head: str, body: str) -> None:
        name, _, arguments = head.partition("(")
        found.setdefault(name, []).append(f"({arguments} AS {body}")

    for head in _heads(TRUE):
        add(head, "true")
    for head in _heads(NOTHING):
        add(head, "CAST(NULL AS VARCHAR)")
    add(
        "format_type(x, y)",
        f"CASE CAST(x AS BIGINT) {FORMATS} {MORE_FORMATS} WHEN 0 THEN '-' ELSE '???' END",
    )
    add("pg_get_userbyid(x)", "'sanderling'")
    add("pg_encoding_to_char(x)", "'UTF8'")
    add("array_upper(x, y)", "len(x)")
    add("_pg_expandarray(x)", "{'x': 0, 'n': 0}")
    add("pg_size_pretty(x)", "CAST(x AS VARCHAR)")
    for name in ("pg_table_size", "pg_total_relation_size", "pg_relation_size", "pg_database_size"):
        add(f"{name}(x)", "0")
    for name in ("has_table_privilege", "has_schema_privilege", "has_column_privilege"):
        add(f"{name}(x, y)", "true")
        add(f"{name}(x, y, z)", "true")
    add("current_setting(x)", "''")
    add("current_setting(x, y)", "''")
    add("pg_backend_pid()", "0")
    add("pg_is_in_recovery()", "false")
    add("quote_ident(x)", """concat('"', replace(x, '"', '""'), '"')""")
    add("to_regclass(x)", "CAST(NULL AS BIGINT)")
    add("txid_current()", "0")
    return [f"CREATE MACRO {name}{', '.join(forms)}" for name, forms in found.items()]


MACROS = _macros()
