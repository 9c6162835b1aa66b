"""The stages on Spark; the only imports of pyspark.

run.py        a plan over files, to the end            living.py     the pipeline of a session
stream.py     the pipeline behind any source           lasting.py    begins again where Spark had no time
session.py    Spark as we need it; signals             checkpoint.py whose it is; plans, sums

sources/      what Spark reads                         engines/      shards and merge partitions inside it
"""
