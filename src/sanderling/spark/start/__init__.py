"""What is started before anybody needs it: Java, and a Python that Spark's Python processes are forked from.

java.py      Spark's Java, beside our own imports      archive.py   its classes, as it has them in memory
nursery.py   a Python that has imported everything     ask.py       what Spark starts instead of a Python
launcher.py  the words that Java is started with, without Spark's scripts
"""
