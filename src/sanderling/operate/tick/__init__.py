"""TICK(): rows that come and go as time passes.

ticking    the operator; it speaks because time passes      schedule   what is to be told at which tick
"""
