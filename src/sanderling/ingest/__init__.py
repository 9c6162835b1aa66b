"""From the outside world to clean columns: every row becomes a reading or a dead letter.

files ──► slices ──► lines ──► csv, json ──┐
   └────────────────────────► parquet ─────┴──► convert ──► judge ──► readings, letters
                                                  └───────► tables

files      which files a path means; `.gz` is unpacked once; the format
slices     where a large file is cut: a pure function of the offset
formats/   header: every declared column is there, before anything runs; lines: bytes to numbered lines;
           csv, json, parquet: lines or row groups to columns, still untyped; geojson
types/     convert: untyped columns to declared types, with a mask of what did not fit
judge      which rows can be readings, and why the others cannot
read       the door: `read_slice`, `raw_rows`
tables     the same for CREATE TABLE, where a bad row is an error; geojson and regions read areas
"""
