"""STAY_WITHIN the fast way: pairs that have been near each other for as long as a range.

company   the operator; it speaks because time passes      held   objects, who is near whom, and since when
passing   of PASS_WITHIN the same; trodden what it remembers: places, and pairs that have passed
swelling  rows within a distance that changes with time
turning   what it stands on: rows that are told only at times, which are known beforehand
"""
