"""Whatever has a long form is run by `make long`."""

from __future__ import annotations

import re

from tests.architecture.examples import ROOT


def test_all_long_forms_are_in_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    (listed,) = re.findall(r"^long_tests := \$\(addprefix tests/,(.*)\)$", makefile, re.MULTILINE)
    run = [f"tests/{name}" for name in listed.split()]
    assert all((ROOT / name).exists() for name in run)
    texts = {p.relative_to(ROOT).as_posix(): p.read_text() for p in (ROOT / "tests").rglob("*.py")}
    # How many random cases there are of what does not say it stands in conftest.py.
    is_long = re.compile(r"^from tests\.long import|^@given\(", re.MULTILINE)
    have = [name for name, text in texts.items() if name != "tests/conftest.py" and is_long.search(text)]
    assert len(have) > 10
    assert [name for name in have if not any(f"{name}/".startswith(f"{r}/") for r in run)] == []
