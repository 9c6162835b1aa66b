"""CREATE TRIGGER: readings that satisfy a graph of constraints together.

events: readings of ticks that close ──► sighted, in shards: each once, with those that take it ──► sightings
sightings ──► dealt to triggers, in their order ──► triggers: the search (kernels/trigger) ──► solve: rows
tracts: which merge partition searches where       shown: what solutions show of events that are needed still
once: REPORT ONCE PER, of the alerts of a key the first
rules: a constraint graph as what the kernels read
"""
