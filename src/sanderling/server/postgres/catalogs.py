"""pg_catalog and information_schema as Arrow tables, over what there is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyarrow as pa

from sanderling.server.postgres.relations import Relation
from sanderling.server.postgres.shapes import INFORMATION_SCHEMA, PG_CATALOG
from sanderling.server.postgres.types import KNOWN, MORE_TYPES, oid_of

DATABASE, SCHEMA = "sanderling", "public"
SYSTEM, PUBLIC, INFORMATION = 11, 2200, 13_000
FIRST_OID = 16_384
TYPES = {
    "i": pa.int64(), "t": pa.string(), "b": pa.bool_(), "l": pa.list_(pa.int64()), "s": pa.list_(pa.string()),
}  # fmt: skip
# Where no row says otherwise.
DEFAULTS: dict[str, Any] = {"i": 0, "t": None, "b": False, "l": None, "s": None}
CATEGORIES = {
    "bool": "B", "date": "D", "time": "D", "timestamp": "D", "timestamptz": "D", "text": "S", "bytea": "U",
}  # fmt: skip

Row = dict[str, Any]


class Catalogs:
    """Of one connection: numbers of tables stay as long as it does."""

    def __init__(self, owner: str, settings: Callable[[], dict[str, str]]):
        self._owner, self._settings = owner, settings
        self.oids: dict[str, int] = {}  # by name, in small letters

    @staticmethod
    def has(schema: str, name: str) -> bool:
        shapes = INFORMATION_SCHEMA if schema == "information_schema" else PG_CATALOG
        return schema in ("", "pg_catalog", "information_schema") and name.casefold() in shapes

    def number(self, relations: Iterable[Relation]) -> None:
        for relation in relations:
            self.oids.setdefault(relation.name.casefold(), FIRST_OID + len(self.oids) * 2)

    def table(self, schema: str, name: str, relations: Sequence[Relation]) -> pa.Table:
        name = name.casefold()
        is_information = schema == "information_schema"
        shape = (INFORMATION_SCHEMA if is_information else PG_CATALOG)[name]
        make = getattr(self, ("_information_" if is_information else "_") + name, None)
        rows: list[Row] = [] if make is None else make(relations)
        fields = [field.split(":") for field in shape.split()]
        columns = {
            column: pa.array([row.get(column, DEFAULTS[letter]) for row in rows], TYPES[letter])
            for column, letter in fields
        }
        return pa.table(columns)

    # ----- pg_catalog

    def _pg_namespace(self, _: Sequence[Relation]) -> list[Row]:
        names = {SYSTEM: "pg_catalog", PUBLIC: SCHEMA, INFORMATION: "information_schema"}
        return [{"oid": oid, "nspname": name, "nspowner": 10} for oid, name in names.items()]

    def _pg_class(self, relations: Sequence[Relation]) -> list[Row]:
        return [
            {
                "oid": self.oids[r.name.casefold()], "relname": r.name, "relnamespace": PUBLIC,
                "relowner": 10, "relkind": "r", "relnatts": len(r.columns), "relpersistence": "p",
                "relreplident": "d", "relispopulated": True, "reltuples": -1,
            }
            for r in relations
        ]  # fmt: skip

    def _pg_am(self, _: Sequence[Relation]) -> list[Row]:
        return [{"oid": 2, "amname": "heap", "amtype": "t"}]

    def _pg_attribute(self, relations: Sequence[Relation]) -> list[Row]:
        return [
            {
                "attrelid": self.oids[r.name.casefold()], "attname": name, "atttypid": oid_of(type_),
                "attlen": KNOWN[oid_of(type_)][1], "attnum": number, "atttypmod": -1, "attidentity": "",
                "attgenerated": "", "attislocal": True, "attnotnull": name == r.key, "attalign": "i",
                "attstorage": "p", "attcompression": "", "attstattarget": -1,
            }
            for r in relations
            for number, (name, type_) in enumerate(r.columns, 1)
        ]  # fmt: skip

    def _pg_type(self, _: Sequence[Relation]) -> list[Row]:
        known = {oid: (name, size) for oid, (name, size, _) in KNOWN.items()}
        known |= {oid: (name, -1) for oid, name in MORE_TYPES.items()}
        return [
            {
                "oid": oid, "typname": name, "typnamespace": SYSTEM, "typowner": 10, "typlen": size,
                "typbyval": 0 < size <= 8, "typtype": "b", "typcategory": CATEGORIES.get(name, "N"),
                "typisdefined": True, "typdelim": ",", "typtypmod": -1, "typalign": "i", "typstorage": "p",
                "typinput": f"{name}in", "typoutput": f"{name}out",
            }
            for oid, (name, size) in known.items()
        ]  # fmt: skip

    def _pg_database(self, _: Sequence[Relation]) -> list[Row]:
        of = {"datcollate": "C", "datctype": "C", "encoding": 6, "datallowconn": True, "datlocprovider": "c"}
        return [{"oid": 1, "datname": DATABASE, "datdba": 10, "datconnlimit": -1, **of}]

    def _pg_roles(self, _: Sequence[Relation]) -> list[Row]:
        return [
            {"oid": 10, "rolname": self._owner, "rolcanlogin": True, "rolinherit": True, "rolconnlimit": -1}
        ]

    def _pg_user(self, _: Sequence[Relation]) -> list[Row]:
        return [{"usename": self._owner, "usesysid": 10}]

    def _pg_description(self, relations: Sequence[Relation]) -> list[Row]:
        oids = self.oids
        return [
            {"objoid": oids[r.name.casefold()], "classoid": 1259, "description": r.said} for r in relations
        ]

    def _pg_settings(self, _: Sequence[Relation]) -> list[Row]:
        return [
            {"name": name, "setting": value, "vartype": "string"} for name, value in self._settings().items()
        ]

    def _pg_tables(self, relations: Sequence[Relation]) -> list[Row]:
        return [{"schemaname": SCHEMA, "tablename": r.name, "tableowner": self._owner} for r in relations]

    # ----- information_schema

    def _information_schemata(self, _: Sequence[Relation]) -> list[Row]:
        names = ("pg_catalog", SCHEMA, "information_schema")
        return [{"catalog_name": DATABASE, "schema_name": n, "schema_owner": self._owner} for n in names]

    def _information_tables(self, relations: Sequence[Relation]) -> list[Row]:
        return [
            {
                "table_catalog": DATABASE, "table_schema": SCHEMA, "table_name": r.name,
                "table_type": "BASE TABLE", "is_insertable_into": "NO", "is_typed": "NO",
            }
            for r in relations
        ]  # fmt: skip

    def _information_columns(self, relations: Sequence[Relation]) -> list[Row]:
        return [
            {
                "table_catalog": DATABASE, "table_schema": SCHEMA, "table_name": r.name, "column_name": name,
                "ordinal_position": number, "is_nullable": "NO" if name == r.key else "YES",
                "data_type": KNOWN[oid_of(type_)][2], "udt_catalog": DATABASE, "udt_schema": "pg_catalog",
                "udt_name": KNOWN[oid_of(type_)][0], "is_identity": "NO", "is_generated": "NEVER",
                "is_updatable": "NO",
            }
            for r in relations
            for number, (name, type_) in enumerate(r.columns, 1)
        ]  # fmt: skip
