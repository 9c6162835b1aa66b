"""Spark's Python workers take pyspark from a zip: this puts compiled code beside the source in it.

In a zip Python cannot keep what it has compiled: each of the dozen processes that a run of Spark has would
compile pyspark anew, which takes longer than all the rest of its start. A Python of another version finds
that the code is not for it, and takes the source as ever.

.venv/bin/python tools/compile_zips.py
"""

from __future__ import annotations

import os
import py_compile
import tempfile
import warnings
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import pyspark


def compile_zip(path: Path) -> None:
    """Puts a new zip in its place; one that has been done is left alone."""
    with ZipFile(path) as old, tempfile.TemporaryDirectory(dir=path.parent, prefix=".") as made:
        if any(entry.filename.endswith(".pyc") for entry in old.infolist()):
            return
        folder = Path(made)
        with ZipFile(folder / path.name, "w", ZIP_DEFLATED) as new:
            for entry in old.infolist():
                name, source = entry.filename, old.read(entry)
                new.writestr(entry, source)
                if name.endswith(".py") and "/tests/" not in name:
                    new.writestr(f"{name}c", _compiled(name, source, folder), ZIP_STORED)
        os.replace(folder / path.name, path)


def _compiled(name: str, source: bytes, folder: Path) -> bytes:
    """Not to be compared with the source whenever it is read: what is in a zip does not change."""
    written = folder / "module.py"
    written.write_bytes(source)
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    done = py_compile.compile(str(written), str(folder / "module.pyc"), name, True, invalidation_mode=mode)
    return Path(done).read_bytes()


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of the source of others
    for zipped in sorted((Path(pyspark.__file__).parent / "python" / "lib").glob("*.zip")):
        compile_zip(zipped)
