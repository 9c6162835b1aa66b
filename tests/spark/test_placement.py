"""Where Spark puts our shards: one in each partition."""

from __future__ import annotations

from pyspark.sql import SparkSession

from sanderling.spark.engines.placement import murmur3, shard_keys


def test_our_hash_is_sparks(spark: SparkSession) -> None:
    keys = [0, 1, 2, 3, 17, 1000, -1, 2**31 - 1]
    rows = spark.createDataFrame([(k,) for k in keys], "k int").selectExpr("k", "hash(k) AS h").collect()
    assert {r["k"]: r["h"] for r in rows} == {k: murmur3(k) for k in keys}


def test_every_shard_has_a_partition_of_its_own(spark: SparkSession) -> None:
    for shards in (1, 2, 3, 7):
        keys = shard_keys(shards)
        frame = spark.createDataFrame([(k,) for k in keys], "k int").repartition(shards, "k")
        found = frame.rdd.mapPartitionsWithIndex(lambda i, rows: [(i, r["k"]) for r in rows]).collect()
        assert sorted(found) == list(enumerate(keys))
