"""DELETE FROM ARCHIVE: of some objects nothing is left, neither readings nor keyframes nor what was last.

Files that have such a reading are written again without it; one commit a table puts them in the place of the
old ones, which are gone from disk when nobody can be reading that version any more.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from sanderling.storage.delta import File, Files
from sanderling.storage.geoparquet import Form
from sanderling.storage.writer import Writer


def erase(writer: Writer, keys: pa.Array) -> int:
    """How many readings were erased. Said again after a kill it erases what is left.

    Promise (tests/storage/test_erase.py): nobody else loses anything, and who reads an earlier version
    neither.
    """
    tables = writer.tables
    with writer.turn:
        erased = _erase_in(tables.readings, tables.form, keys)
        _erase_in(tables.late, tables.form, keys)
        _erase_in(tables.snapshots, tables.form, keys)
        _erase_in(tables.last, tables.last_form, keys)
    return erased


def _erase_in(files: Files, form: Form, keys: pa.Array) -> int:
    files.refresh()
    came, went = list[File](), list[File]()
    for file in files.all():
        groups = list(_without(files, form, file, keys))
        left = sum(group.num_rows for group in groups)
        if left == file.rows:
            continue
        went.append(file)
        if left:
            stem = file.path.removesuffix(".parquet").split(".without-")[0]
            path = f"{stem}.without-{files.version}.parquet"
            came.append(form.write(files.folder, path, file.part, groups))
    if went:
        files.commit(came, went)
    return sum(f.rows for f in went) - sum(f.rows for f in came)


def _without(files: Files, form: Form, file: File, keys: pa.Array) -> Iterator[pa.Table]:
    for table in form.row_groups(files.path_of(file)):
        is_one = pc.is_in(table.column(form.stream.key), value_set=keys)
        left = table.filter(pc.invert(is_one))
        if left.num_rows:
            yield left
