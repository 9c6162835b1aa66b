"""REGISTER PATTERN name AS step = SELECT …; next = SELECT … WHERE id NOT IN step; … SELECT … END

The papers' own form of a pattern, read as the same statement. A mix-in of the dialect's parser.

step = SELECT …;                               a step, as in WITH
next = SELECT … FROM left WHERE id IN step;    what came so far, THEN step
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NoReturn

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sanderling.errors import QueryError, did_you_mean
from sanderling.language.grammar.mixin import Mixin
from sanderling.language.statements import Name, PatternGroup, PatternStep, RegisterPattern, Span

# What stands between steps; a kind of token that nothing else is.
STEP_ENDS = TokenType.BREAK
OF_STEPS = ("REACHED", "ENTERED")


@dataclass(slots=True)
class Sequence:
    """Steps one after the other, and the columns that a SELECT over them has (None: the first step's)."""

    name: Name
    positions: tuple[PatternGroup, ...]
    shown: dict[str, exp.Expr] | None
    is_read: bool = False

    @property
    def first(self) -> str:
        return self.positions[0].steps[0].name.text


@dataclass(slots=True)
class Named:
    """What has a name so far, by name without case."""

    steps: dict[str, exp.Expr]
    sequences: dict[str, Sequence]


@dataclass(slots=True)
class Linked:
    """A SELECT over steps: what it shows, of which sequence, and what has to hold of it."""

    items: list[exp.Expr]
    sequence: Sequence
    where: exp.Expr | None


class NamedStepParser(Mixin):
    """Reads the body of such a pattern; to be mixed into a sqlglot parser beside `PatternParser`."""

    def _has_named_steps(self) -> bool:
        return bool(self._curr and self._next and self._next.token_type == TokenType.EQ)

    def _parse_named_steps(self, name: Name, first: Token) -> RegisterPattern:
        body, named = self._curr, Named({}, {})
        while self._has_named_steps():
            self._named_step(named)
            if not self._match(STEP_ENDS):
                self._refuse_no_end()
        linked = self._linked(named, Name("", name.span))
        is_first, has_timeouts = self._pattern_report()
        is_skipping = self._pattern_skips()
        options = self._options() if self._match_text_seq("WITH") else {}
        self._match(STEP_ENDS)
        if not self._match(TokenType.END):
            self._refuse_no_end()
        unread = next((s.name for s in named.sequences.values() if not s.is_read), None)
        if unread is not None:
            self._refuse_name("query.unused_name", f'nothing reads "{unread.text}"', "leave it out", unread)
        span = self._span_from(first)
        steps = self.expression(exp.With(expressions=list(named.steps.values())))
        return RegisterPattern(
            name, steps, tuple(linked.items), linked.sequence.positions, linked.where, is_first, has_timeouts,
            is_skipping, options, self.sql[body.start : span.end], span,
        )  # fmt: skip

    def _named_step(self, named: Named) -> None:
        name = self._name("a step's name")
        self._match(TokenType.EQ)
        folded = name.text.casefold()
        if folded in named.steps or folded in named.sequences:
            message = f'two steps are named "{name.text}"'
            self._refuse_name("query.duplicate_name", message, "give one another name", name)
        if self._is_link():
            linked = self._linked(named, name)
            if linked.where is not None:
                hint = "say it in the last SELECT"
                self._refuse_name("query.unsupported", f'"{name.text}" takes no condition', hint, name)
            named.sequences[folded] = linked.sequence
        else:
            query = self._parse_select_here()
            for table in query.find_all(exp.Table):
                self._refuse_sequence(named, table)
            named.steps[folded] = self._given(name, query)

    def _is_link(self) -> bool:
        """Whether a step stands behind an IN: nothing but brackets can in a query."""
        depth = 0
        for at in range(self._index, len(self._tokens) - 1):
            kind, following = self._tokens[at].token_type, self._tokens[at + 1].token_type
            depth += (kind == TokenType.L_PAREN) - (kind == TokenType.R_PAREN)
            if kind == STEP_ENDS and not depth:
                return False
            if kind == TokenType.IN and not depth and following != TokenType.L_PAREN:
                return True
        return False

    # ----- SELECT … FROM left WHERE id IN right

    def _linked(self, named: Named, name: Name) -> Linked:
        self._expect(self._match(TokenType.SELECT), "SELECT, of a step that has a name")
        items: list[exp.Expr] = self._parse_expressions()
        self._expect(items, "what to show")
        self._expect(self._match(TokenType.FROM), "FROM and a step")
        left, label = self._left(named)
        where = None
        positions = left.positions
        if self._match(TokenType.WHERE):
            if self._is_link():
                positions = (*positions, self._right(named, left, label))
                where = self._parse_disjunction() if self._match(TokenType.AND) else None
            else:
                where = self._parse_disjunction()
        if self._curr and self._curr.text.upper() == "PERSISTENCY":
            positions = self._staying(positions)
        shown = self._shown(items, left, label)
        where = where and self._meant(where, left, label)
        sequence = Sequence(name, positions, None if _is_all(items) else _by_name(shown))
        return Linked(shown, sequence, where)

    def _left(self, named: Named) -> tuple[Sequence, str]:
        """What comes so far, and what it is called here."""
        token = self._curr
        step = self._pattern_step()
        folded = step.step.text.casefold()
        known = named.sequences.get(folded)
        if known is not None:
            known.is_read = True
            if step != PatternStep(step.step, step.name, False, False, None, (), None, None):
                hint = "say it where the step itself is named"
                message = f'"{step.step.text}" is a sequence of steps'
                raise self.refuse("query.bad_pattern", message, hint, token, self._prev)
            return known, step.name.text.casefold()
        self._refuse_unknown(named, step.step)
        group = PatternGroup((step,), False, False, step.within, self._span_from(token))
        return Sequence(step.name, (group,), None), step.name.text.casefold()

    def _staying(self, positions: tuple[PatternGroup, ...]) -> tuple[PatternGroup, ...]:
        """FROM step PERSISTENCY 30 SECONDS: as FOR."""
        token = self._curr
        self._advance()
        clause = self._parse_persistency()
        if len(positions) > 1 or clause.per is not None or clause.condition is not None or clause.grace_us:
            message, hint = (
                "here PERSISTENCY says how long one step has to stay",
                "say it where the step is named",
            )
            raise self.refuse("query.bad_pattern", message, hint, token, self._prev)
        (group,) = positions
        return (replace(group, steps=(replace(group.steps[0], stay_us=clause.stay_us),)),)

    def _right(self, named: Named, left: Sequence, label: str) -> PatternGroup:
        first = self._curr
        is_not = bool(self._match(TokenType.NOT))
        columns = self._columns_before_in()
        is_not = bool(self._match(TokenType.NOT)) or is_not
        self._expect(self._match(TokenType.IN), "IN and a step")
        step = self._pattern_step()
        self._refuse_unknown(named, step.step)
        if not step.on:
            on = (self._equal(column, step, left, label) for column in columns)
            step = replace(step, on=tuple(on))
        return PatternGroup((step,), False, is_not, step.within, self._span_from(first))

    def _columns_before_in(self) -> list[exp.Column]:
        """id, or several in brackets."""
        token = self._curr
        has_brackets = bool(self._match(TokenType.L_PAREN))
        found = [self._parse_column()]
        while has_brackets and self._match(TokenType.COMMA):
            found.append(self._parse_column())
        if has_brackets:
            self._match_r_paren()
        if not all(isinstance(column, exp.Column) for column in found):
            hint = "write WHERE id IN step"
            raise self.refuse("query.bad_pattern", "IN links columns with a step", hint, token, self._prev)
        return found

    def _equal(self, column: exp.Column, step: PatternStep, left: Sequence, label: str) -> exp.Expr:
        """The column of the same name is equal."""
        meant = self._meant(column, left, label)
        if not isinstance(meant, exp.Column):
            message = f'"{column.name}" is computed: IN links columns of steps'
            raise self._wrong("query.bad_pattern", message, "show the column itself, too", column)
        if not meant.table:
            meant.set("table", exp.to_identifier(left.first, quoted=True))
        own = exp.Column(this=column.this.copy(), table=exp.to_identifier(step.name.text, quoted=True))
        equal = exp.EQ(this=own, expression=meant)
        equal.meta["is_in"] = True
        return equal

    # ----- what columns are

    def _shown(self, items: list[exp.Expr], left: Sequence, label: str) -> list[exp.Expr]:
        found = []
        for item in items:
            meant = self._meant(item, left, label)
            is_renamed = (
                isinstance(item, exp.Column) and not item.is_star and meant.alias_or_name != item.name
            )
            found.append(exp.alias_(meant, item.name, quoted=True) if is_renamed else meant)
        return found

    def _meant(self, node: exp.Expr, left: Sequence, label: str) -> exp.Expr:
        """The same with columns of steps instead of those that a SELECT in between has."""

        def change(part: exp.Expr) -> exp.Expr:
            is_step = isinstance(part.parent, exp.Anonymous) and part.parent.name.upper() in OF_STEPS
            if not isinstance(part, exp.Column) or part.is_star or is_step:
                return part
            if part.table and part.table.casefold() != label:
                return part
            if left.shown is None:
                if part.table and label != left.first.casefold():
                    part.set("table", exp.to_identifier(left.first, quoted=True))
                return part
            found = left.shown.get(part.name.casefold())
            if found is None:
                names = [str(shown.alias_or_name) for shown in left.shown.values()]
                hint = did_you_mean(part.name, names) or f"add it to the SELECT of {left.name.text}"
                message = f'"{left.name.text}" shows no column "{part.name}"'
                raise self._wrong("query.unknown_column", message, hint, part)
            return found.copy()

        return node.copy().transform(change, copy=False)

    # ----- refusals

    def _refuse_no_end(self) -> NoReturn:
        hint = "end the last SELECT with END;"
        token = self._curr or self._prev
        raise self.refuse("query.syntax", "a pattern of named steps ends with END", hint, token)

    def _refuse_name(self, code: str, message: str, hint: str, name: Name) -> NoReturn:
        raise QueryError(code, message, hint, name.span.place_in(self.sql))

    def _wrong(self, code: str, message: str, hint: str, node: exp.Expr) -> QueryError:
        spots = [part.meta for part in node.walk() if "start" in part.meta]
        span = Span(min(spot["start"] for spot in spots), max(spot["end"] for spot in spots) + 1)
        return QueryError(code, message, hint, span.place_in(self.sql))

    def _refuse_unknown(self, named: Named, name: Name) -> None:
        if name.text.casefold() in named.sequences:
            message = f'"{name.text}" is a sequence of steps, and stands behind FROM'
            self._refuse_name("query.bad_pattern", message, "let IN name a step", name)
        if name.text.casefold() not in named.steps:
            known = [step.alias for step in named.steps.values()]
            hint = did_you_mean(name.text, known) or f"write {name.text} = SELECT …; before it"
            self._refuse_name("query.bad_pattern", f'no step before this is named "{name.text}"', hint, name)

    def _refuse_sequence(self, named: Named, table: exp.Table) -> None:
        sequence = named.sequences.get(table.name.casefold())
        if sequence is not None:
            message = f'"{table.name}" is a sequence of steps, which only IN goes on with'
            hint = f"write SELECT … FROM {table.name} WHERE id IN step"
            raise self._wrong("query.bad_pattern", message, hint, table)


def _is_all(items: list[exp.Expr]) -> bool:
    return any(isinstance(item, exp.Star) for item in items)


def _by_name(items: list[exp.Expr]) -> dict[str, exp.Expr]:
    return {item.alias_or_name.casefold(): item.unalias() for item in items}
