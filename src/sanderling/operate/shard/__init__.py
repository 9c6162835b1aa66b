"""One shard, which walks operators and knows none by name.

shard.py     all its streams, and the plan they follow
stream.py    one stream: its objects' last readings and its queries
working.py   the operators that work for it; now.py: of queries without a window
"""
