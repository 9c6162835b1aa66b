"""Lines as they are typed: up to a semicolon, in colours, completed, remembered."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import Lexer
from prompt_toolkit.output import Output
from prompt_toolkit.styles import Style

from sanderling.shell.behind import Relation
from sanderling.shell.loop import COMMANDS
from sanderling.shell.words import OF_OURS, OF_SQL, is_whole, words_in

STYLE = Style.from_dict({
    "word": "ansiblue bold", "text": "ansigreen", "number": "ansicyan", "remark": "ansibrightblack italic",
    "name": "", "prompt": "bold",
})  # fmt: skip
# Longer ones are shown as they are: to colour them would take longer than a key may.
MOST_COLOURED = 20_000
PART = re.compile(r"[\w\\]+$")
SHORT_WORDS = sorted({word for word in OF_SQL | OF_OURS if len(word) > 1})


class Colours(Lexer):
    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        text = document.text
        styles = [""] * len(text)
        if len(text) <= MOST_COLOURED and not text.lstrip().startswith("\\"):
            for word in words_in(text):
                styles[word.start : word.end] = [f"class:{word.kind}"] * (word.end - word.start)
        starts = [0]
        for line in document.lines:
            starts.append(starts[-1] + len(line) + 1)

        def line_of(number: int) -> StyleAndTextTuples:
            if number >= len(document.lines):
                return []
            line, start = document.lines[number], starts[number]
            return [(styles[start + at], character) for at, character in enumerate(line)]

        return line_of


class Completing(Completer):
    """Commands, names of what there is, columns of what is named, words."""

    def __init__(self, relations: Callable[[], list[Relation]]):
        self._relations = relations

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        found = PART.search(document.text_before_cursor)
        part = found[0] if found else ""
        if part.startswith("\\"):
            yield from self._those(part, COMMANDS, "command")
            return
        relations = self._relations()
        said = {word.casefold() for word in re.findall(r"\w+", document.text)}
        names = {r.name: r.kind for r in relations}
        columns = {c for r in relations if r.name.casefold() in said for c, _ in r.columns}
        yield from (c for name, kind in sorted(names.items()) for c in self._those(part, [name], kind))
        yield from self._those(part, sorted(columns - names.keys()), "column")
        if part:
            yield from self._those(part, SHORT_WORDS, "")

    def _those(self, part: str, words: Iterable[str], kind: str) -> Iterable[Completion]:
        for word in words:
            if word.casefold().startswith(part.casefold()) and word != part:
                quoted = word if re.fullmatch(r"[\w\\?]+", word) else f"`{word}`"
                yield Completion(quoted, -len(part), display=word, display_meta=kind)


def history_in(path: Path | None) -> History:
    """On disk, for its owner alone; in memory where there is no place on disk."""
    if path is None:
        return InMemoryHistory()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(0o600)
        return FileHistory(str(path))
    except OSError:
        return InMemoryHistory()


def prompt_of(
    relations: Callable[[], list[Relation]], history: History, source: Input | None = None,
    target: Output | None = None,
) -> PromptSession[str]:  # fmt: skip
    keys = KeyBindings()
    asked: PromptSession[str]

    @Condition
    def ends() -> bool:
        return is_whole(asked.default_buffer.text)

    @keys.add("enter", filter=ends)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    asked = PromptSession(
        [("class:prompt", "sanderling> ")], multiline=True, prompt_continuation=[("", "        ... ")],
        lexer=Colours(), completer=Completing(relations), complete_while_typing=False, history=history,
        style=STYLE, key_bindings=keys, include_default_pygments_style=False, input=source, output=target,
    )  # fmt: skip
    return asked
