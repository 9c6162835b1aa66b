"""STAY_WITHIN the fast way: pairs that have been near each other for as long as a range.

company   the operator; it speaks because time passes      held   objects, who is near whom, and since when
swelling  rows within a distance that changes with time
"""
