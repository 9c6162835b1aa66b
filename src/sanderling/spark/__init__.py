"""The stages on Spark; the only imports of pyspark."""
