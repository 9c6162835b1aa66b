"""What Spark reads: files, a live feed, DataFrames of a user, what a session tells, what it has told."""
