"""Numba kernels: arrays in, arrays out; no objects, no state. Readable as Python with the JIT off."""
