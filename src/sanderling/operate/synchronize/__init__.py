"""SYNCHRONIZE … EVERY: rows that are looked at together, now and then.

sample   the operator; it speaks because time passes
"""
