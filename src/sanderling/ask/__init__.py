"""A SELECT that is not registered: answered once, as a table.

text ──► question: what, as at when ──► plan of it alone ──► engine ──► sum of what it tells ──► table
                        readings: held by shards, in files, or in an archive ──┘
"""
