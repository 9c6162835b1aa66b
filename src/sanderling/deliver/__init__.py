"""Signed rows to whoever asked: files now, in order of tick; each batch delivered once."""
