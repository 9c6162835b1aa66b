"""Shards and merge partitions inside Spark: stages (processor), state (stored), copies at hand (keeper)."""
