"""What our SQL adds to that of Spark, a file a clause; dialect.py puts them together."""
