"""WHERE: which readings a query takes, judged once a batch and distinct condition, or pair by pair.

asks          what each region asks beside its place       conditions    evaluated by SQL
comparisons   judged by NumPy, where they only compare     slots         looked up, where there are many
orders        whether WHERE or INSIDE comes first, by counts; probe tries the other one with a few
"""
