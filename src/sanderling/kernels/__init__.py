"""Numba kernels: arrays in, arrays out; no objects, no state. Readable as Python with the JIT off.

jit.py           the one import of Numba
keys, rows       hash indexes: which number a key, or a row of numbers, has; hashing
order            stable sorting by whole numbers
drive            a step of simulated traffic

for the rooms of operate/ so named: readings/ inside/ nearest/ window/ sql/ persistency/ trajectory/ trigger/
pattern/
"""
