"""INSERT INTO, DELETE FROM and REFRESH TABLE: how a table changes.

A mix-in of the dialect's parser. What is inserted are constants; an area is written as in CREATE REGION.
"""

from __future__ import annotations

from sqlglot.tokenizer_core import Token, TokenType

from sanderling.language.grammar.mixin import Mixin
from sanderling.language.statements import (
    Cell,
    DeleteFrom,
    DeleteFromArchive,
    InsertInto,
    Name,
    RefreshTable,
    Span,
    TableChange,
)

CONSTANTS = {TokenType.TRUE: True, TokenType.FALSE: False, TokenType.NULL: None}
FIRST_WORDS = ("INSERT", "DELETE", "REFRESH")


class ChangeParser(Mixin):
    """Reads changes of tables from the token stream; to be mixed into a sqlglot parser."""

    def _parse_table_change(self, first: Token) -> TableChange | DeleteFromArchive:
        self._advance()
        match first.text.upper():
            case "INSERT":
                return self._parse_insert(first)
            case "DELETE":
                return self._parse_delete(first)
        self._expect(self._match_text_seq("TABLE"), "TABLE")
        return RefreshTable(self._name("a table's name"), self._span_from(first))

    def _parse_insert(self, first: Token) -> InsertInto:
        self._expect(self._match_text_seq("INTO"), "INTO")
        name = self._name("a table's name")
        columns: list[Name] = []
        if self._match(TokenType.L_PAREN):
            columns.append(self._name("a column's name"))
            while self._match(TokenType.COMMA):
                columns.append(self._name("a column's name"))
            self._match_r_paren()
        self._expect(self._match_text_seq("VALUES"), "VALUES")
        rows = [self._parse_row()]
        while self._match(TokenType.COMMA):
            rows.append(self._parse_row())
        return InsertInto(name, tuple(columns), tuple(rows), self._span_from(first))

    def _parse_row(self) -> tuple[Cell, ...]:
        self._match_l_paren()
        cells = [self._parse_cell()]
        while self._match(TokenType.COMMA):
            cells.append(self._parse_cell())
        self._match_r_paren()
        return tuple(cells)

    def _parse_cell(self) -> Cell:
        first = self._curr
        if first and first.token_type in CONSTANTS:
            self._advance()
            return Cell(CONSTANTS[first.token_type], Span(first.start, first.end + 1))
        if self._is_coverage():
            return Cell(self._parse_region(), self._span_from(first))
        value = self._value("a constant or a coverage")
        return Cell(value.value, value.span)

    def _parse_delete(self, first: Token) -> DeleteFrom | DeleteFromArchive:
        self._expect(self._match_text_seq("FROM"), "FROM")
        if self._match_text_seq("ARCHIVE"):
            erased: DeleteFromArchive = self._parse_delete_from_archive(first)
            return erased
        name = self._name("a table's name")
        where = self._parse_where()
        return DeleteFrom(name, where.this if where else None, self._span_from(first))
