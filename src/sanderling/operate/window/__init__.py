"""WINDOW: readings that come into a window and leave it, joined with the regions of its queries.

history   the readings that all windows of a stream hold      holders       a file a kind: who leaves when
past      what queries need of the past, as the plan says     whereabouts   where focal objects were
"""
