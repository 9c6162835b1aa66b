"""REGISTER PATTERN: runs that go from step to step.

matching      the operator: all runs at once, as columns; it speaks because time passes
standing      who is in a step, since when, and what happens    run_columns   runs, and what each waits for
ended         which runs are told, and what they show
match         the same run by run, where a program's own states decide; the plain twin of matching
presence      who is in a step                                  runs          what a run waits for
saved         its runs as tables                                own_steps     steps that such states decide
own_state     one of those at work                              recent        FROM pattern WINDOW d
"""
