"""A server as PostgreSQL's driver for Java sees it: the driver itself, in a Java of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway
from py4j.protocol import Py4JJavaError

from tests.architecture.examples import ROOT
from tests.server.test_postgres import named
from tests.server.town import Town

DRIVER = ROOT / ".venv" / "postgresql.jar"  # tools/setup --browser has put it there


@pytest.fixture(scope="module")
def java() -> Iterator[Any]:
    assert DRIVER.exists(), "make browser fetches it"
    (jar,) = (Path(pyspark.__file__).parent / "jars").glob("py4j-*.jar")
    port = launch_gateway(jarpath=str(jar), classpath=str(DRIVER), die_on_exit=True)
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port))
    yield gateway.jvm
    gateway.shutdown()


def rows(result: Any) -> list[dict[str, str | None]]:
    about = result.getMetaData()
    labels = [about.getColumnLabel(n + 1) for n in range(about.getColumnCount())]
    found = []
    while result.next():
        found.append({label: result.getString(n + 1) for n, label in enumerate(labels)})
    return found


def test_a_driver_for_java(town: Town, java: Any) -> None:
    with named(town, "SELECT id, x, seen FROM taxis INSIDE (0, 770, 10, 780)") as name:
        town.tell([("a", 1, 771), ("b", 2.5, 772), ("c", 3, 773)])
        properties = java.java.util.Properties()
        properties.setProperty("user", "me")
        properties.setProperty("password", town.server.token)
        address = f"jdbc:postgresql://127.0.0.1:{town.server.postgres_port}/sanderling"
        connection = java.java.sql.DriverManager.getConnection(address, properties)
        about = connection.getMetaData()
        tables = [row["TABLE_NAME"] for row in rows(about.getTables(None, "public", "%", None))]
        assert {name, "taxis", "ours"} <= set(tables)
        columns = rows(about.getColumns(None, "public", name, "%"))
        assert [(c["COLUMN_NAME"], c["TYPE_NAME"]) for c in columns] == [
            ("id", "text"), ("x", "float8"), ("seen", "timestamp"),
        ]  # fmt: skip
        assert [row["TABLE_SCHEM"] for row in rows(about.getSchemas())][-1] == "public"
        assert rows(about.getPrimaryKeys(None, "public", name)) == []
        assert rows(about.getIndexInfo(None, "public", name, False, False)) == []
        assert len(rows(about.getTypeInfo())) > 10

        asked = connection.prepareStatement(f"SELECT id FROM {name} WHERE x < ? AND id <> ? ORDER BY id")
        asked.setDouble(1, 2.75)
        asked.setString(2, "a")
        for _ in range(7):  # from the fifth time on it is prepared, and binary
            assert rows(asked.executeQuery()) == [{"id": "b"}]
        said = connection.createStatement()
        said.execute(f"REGISTER QUERY {name}j AS SELECT id FROM taxis")
        said.execute(f"DROP QUERY {name}j")
        with pytest.raises(Py4JJavaError) as e:
            said.executeQuery("SELECT * FROM nowhere")
        assert e.value.java_exception.getSQLState() == "42P01"
        connection.setAutoCommit(False)
        paged = connection.createStatement()
        paged.setFetchSize(2)
        assert [row["id"] for row in rows(paged.executeQuery(f"SELECT id FROM {name} ORDER BY 1"))] == [
            "a",
            "b",
            "c",
        ]
        connection.commit()
        copying = connection.getCopyAPI().copyOut(f"COPY (SUBSCRIBE {name}) TO STDOUT WITH (FORMAT csv)")
        told = [bytes(copying.readFromCopy()).decode().split(",")[1:3] for _ in range(3)]
        assert told == [["1", "a"], ["1", "b"], ["1", "c"]]
        copying.cancelCopy()
        connection.close()
