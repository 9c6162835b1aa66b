"""REGISTER PATTERN: runs that go from step to step.

match       the operator; it speaks because time passes      presence   who is in a step, since when
runs        the automaton: what a run waits for               saved      runs as tables
"""
