"""GeoJSON: features, and columns out of their properties."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sanderling.catalog import Column
from sanderling.errors import ODD_CHARACTER, ConfigError, QueryError, did_you_mean
from sanderling.ingest.files import SourceFile
from sanderling.ingest.formats.names import shown_names
from sanderling.types import TYPES

REGION = "region"
# JSON can say one half of a pair of UTF-16; no text can hold it.
HALF = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Feature:
    """One feature, with where it stands for error messages: the file, and its place in it from 1."""

    file: str
    number: int
    properties: dict[str, Any]
    geometry: Any

    def __str__(self) -> str:
        return f'feature {self.number} of "{self.file}"'


def read_features(file: SourceFile) -> list[Feature]:
    try:
        with open(file.path, encoding="utf-8-sig") as text:
            whole = json.load(text)
    except (ValueError, RecursionError) as error:
        raise _broken(file, f"is not JSON: {error}") from error
    kind = whole.get("type") if isinstance(whole, dict) else None
    features = (
        [whole] if kind == "Feature" else whole.get("features") if kind == "FeatureCollection" else None
    )
    if not isinstance(features, list):
        raise _broken(file, "is JSON, but not a FeatureCollection")
    return [_feature(file, number, feature) for number, feature in enumerate(features, 1)]


def _feature(file: SourceFile, number: int, feature: Any) -> Feature:
    if not isinstance(feature, dict) or not isinstance(feature.get("properties") or {}, dict):
        raise _broken(file, f"has no feature in place {number}, but {json.dumps(feature)[:60]}")
    return Feature(file.name, number, feature.get("properties") or {}, feature.get("geometry"))


def _broken(file: SourceFile, why: str) -> ConfigError:
    return ConfigError("config.broken_geojson", f'"{file.name}" {why}')


@dataclass(frozen=True, slots=True)
class Property:
    """A column of the table, and the property it comes from."""

    column: Column
    source: str


def declared_properties(columns: Sequence[Column], features: Sequence[Feature]) -> list[Property]:
    """The property of each column, by its exact name or else in another case."""
    names = list(_property_names(features))
    by_fold = {name.casefold(): name for name in reversed(names)}
    found = []
    for column in columns:
        name = column.name if column.name in names else by_fold.get(column.name.casefold())
        if name is None:
            raise ConfigError(
                "config.missing_column",
                f'no feature has the property "{column.name}"',
                did_you_mean(column.name, shown_names(names)),
            )
        found.append(Property(column, name))
    return found


def inferred_properties(features: Sequence[Feature]) -> list[Property]:
    """A column for each property, in order of appearance; a name already taken gets a number."""
    taken = {REGION}
    _refuse_odd_names(features)
    return [
        Property(Column(_free_name(name, taken), TYPES[_type_name(values)]), name)
        for name, values in _property_names(features).items()
    ]


def _refuse_odd_names(features: Sequence[Feature]) -> None:
    for feature in features:
        if any(ODD_CHARACTER.search(name) for name in feature.properties):
            raise QueryError(
                "query.bad_table_row",
                f"{feature} has a property with half a character, or a zero, in its name",
                "rename the property, or declare the columns",
            )


def _property_names(features: Sequence[Feature]) -> dict[str, list[Any]]:
    names: dict[str, list[Any]] = {}
    for feature in features:
        for name, value in feature.properties.items():
            names.setdefault(name, []).append(value)
    return names


def _free_name(name: str, taken: set[str]) -> str:
    free, number = name, 2
    while free.casefold() in taken:
        free, number = f"{name}_{number}", number + 1
    taken.add(free.casefold())
    return free


def _type_name(values: Sequence[Any]) -> str:
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return "BOOLEAN"
    if kinds == {int} and all(-(1 << 63) <= value < 1 << 63 for value in values if value is not None):
        return "BIGINT"
    return "DOUBLE" if kinds and kinds <= {int, float} else "STRING"


def text_of(feature: Feature, name: str) -> str | None:
    """A property as a text that the declared type is read from; nested ones as JSON."""
    value = feature.properties.get(name)
    text = value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if text is not None and HALF.search(text):
        raise QueryError(
            "query.bad_table_row", f"{feature}: {json.dumps(name)} holds half a character, such as \\ud800",
            "mend the file",
        )  # fmt: skip
    return text
