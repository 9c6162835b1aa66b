"""REGISTER PATTERN: runs that go from step to step.

match       the operator; it speaks because time passes      presence   who is in a step, since when
runs        the automaton: what a run waits for               saved      runs as tables
own_steps   steps that a program's own states decide          own_state  one of those at work
recent      FROM pattern WINDOW d
"""
