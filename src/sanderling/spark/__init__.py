"""The stages on Spark; the only imports of pyspark.

runtime.py    a stream under way, from sources to sinks  run.py       a plan over files, to the end
stream.py     puts a streaming query together            lasting.py   begins again where Spark had no time
session.py    Spark as we need it; signals               faults.py    what went wrong, in our words
checkpoint.py whose it is; plans, sums

sources/      what Spark reads                           engines/      shards and merge partitions inside it
start/        Java and Python, before anybody needs them
"""
