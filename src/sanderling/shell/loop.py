"""What is typed is done: statements, and commands that begin with a backslash."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from sanderling.errors import QueryError, SanderlingError, did_you_mean
from sanderling.shell.behind import Behind, Relation
from sanderling.shell.shown import Screen
from sanderling.shell.words import statements_in

SECONDS_BETWEEN_WATCHES = 2.0
SUBSCRIBE = re.compile(r"SUBSCRIBE\s+(?:TO\s+)?(`(?:[^`]|``)+`|\S+)\s*", re.IGNORECASE)
COMMANDS = {
    r"\d": "streams, tables and queries; \\d name: its columns",
    r"\dt": "streams and tables",
    r"\x": "a row at a time, or as a table again",
    r"\watch": "the last statement again and again, every 2 seconds or as many as you say, till Ctrl-C",
    r"\?": "this list",
    r"\q": "the end; so does Ctrl-D",
}


class Left(Exception):
    """Somebody wants to leave."""


class Loop:
    """Promise (tests/shell): whatever goes wrong is told, and the loop goes on."""

    def __init__(self, behind: Behind, screen: Screen, pause: Callable[[float], None] = time.sleep):
        self._behind, self._screen, self._pause = behind, screen, pause
        self._last = ""
        self.relations: list[Relation] = []
        self.look()

    def look(self) -> None:
        """What there is now, for completion."""
        try:
            self.relations = self._behind.relations()
        except SanderlingError as e:
            self._screen.refuse(e)

    def take(self, text: str) -> bool:
        """One text; whether all of it could be done."""
        try:
            if text.lstrip().startswith("\\"):
                self._command(text.strip().rstrip(";"))
            else:
                for statement in statements_in(text):
                    self._last = statement
                    self._run(statement)
                self.look()
        except SanderlingError as e:
            self._screen.refuse(e)
            return False
        except KeyboardInterrupt:
            self._screen.say("stopped")
        return True

    def _run(self, statement: str) -> None:
        found = SUBSCRIBE.fullmatch(statement)
        if found is not None:
            return self._subscribe(found[1].strip("`"))
        shown = self._behind.run(statement)
        if shown is None:
            self._screen.say("done")
        else:
            self._screen.rows(shown)

    def _subscribe(self, name: str) -> None:
        self._screen.say("till Ctrl-C")
        for update in self._behind.updates(name):
            if update is not None:
                self._screen.update(update)

    def _command(self, text: str) -> None:
        word, *rest = text.split(maxsplit=1)
        name = rest[0].strip("`") if rest else ""
        match word:
            case "\\q":
                raise Left
            case "\\x":
                self._screen.is_tall = not self._screen.is_tall
                self._screen.say("a row at a time" if self._screen.is_tall else "as a table")
            case "\\?":
                for command, said in COMMANDS.items():
                    self._screen.say(f"{command:<8} {said}")
                self._screen.say(
                    "all else is a statement, ended by ; and SUBSCRIBE query; tells what changes"
                )
            case "\\d" if name:
                self.look()
                self._screen.relation(self._named(name))
            case "\\d" | "\\dt":
                self.look()
                kinds = ("stream", "table") if word == "\\dt" else None
                self._screen.relations([r for r in self.relations if kinds is None or r.kind in kinds])
            case "\\watch":
                self._watch(name)
            case _:
                raise QueryError(
                    "query.unknown_statement", f'no command is called "{word}"', did_you_mean(word, COMMANDS)
                )

    def _named(self, name: str) -> Relation:
        for relation in self.relations:
            if relation.name.casefold() == name.casefold():
                return relation
        names = [relation.name for relation in self.relations]
        raise QueryError("query.unknown_name", f'nothing is named "{name}"', did_you_mean(name, names))

    def _watch(self, said: str) -> None:
        try:
            seconds = float(said) if said else SECONDS_BETWEEN_WATCHES
        except ValueError:
            seconds = -1.0
        if not 0.1 <= seconds <= 86_400 or not self._last:
            hint = "\\watch 2, behind a statement"
            raise QueryError(
                "query.unknown_statement", "there is nothing to repeat, or no time between", hint
            )
        while True:
            self._screen.say(time.strftime("%H:%M:%S"))
            self._run(self._last)
            self._pause(seconds)
