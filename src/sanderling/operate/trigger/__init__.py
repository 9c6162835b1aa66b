"""CREATE TRIGGER: readings that satisfy a graph of constraints together.

sightings ──► dealt to triggers, in their order ──► triggers: the search (kernels/trigger) ──► solve: rows
tracts: which merge partition searches where       shown: what solutions show of events that are needed still
rules: a constraint graph as what the kernels read
"""
