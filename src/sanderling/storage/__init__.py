"""The past, on disk, for whoever asks later: PLACE's second and third level.

archived readings ─► blocks ─► GeoParquet ─► one Delta commit ─► keyframes, compaction, retention
                                                   └──► Archive: what it holds, for readers

A folder that others read, too: files and their log are what DuckDB, GeoPandas and Spark know.
"""
