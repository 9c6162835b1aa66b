"""INSIDE: who is in which region, told as entries and exits.

moved objects ──► inside (kernels/inside) ──► tell: judged exactly ──► rows: the select list
                    └─► moving: regions that follow a focal object
meet: the same of readings that come or leave, for windows and triggers
swept: readings of a range with a coverage that changes by itself, as it is now
"""
