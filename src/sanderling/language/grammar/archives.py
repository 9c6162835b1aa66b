"""CREATE ARCHIVE and what else is said of archives.

A mix-in of the dialect's parser.
"""

from __future__ import annotations

from sqlglot.tokenizer_core import Token, TokenType

from sanderling.language.grammar.mixin import Mixin
from sanderling.language.statements import CreateArchive, DeleteFromArchive, DescribeArchive, Name


class ArchiveParser(Mixin):
    """Reads statements about archives from the token stream; to be mixed into a sqlglot parser."""

    def _parse_archive(self, name: Name, first: Token) -> CreateArchive:
        """Behind CREATE ARCHIVE and its name."""
        self._expect(self._match_text_seq("OF"), "OF and a stream")
        stream = self._name("a stream's name")
        options = self._options() if self._match_text_seq("WITH") else {}
        return CreateArchive(name, stream, options, self._span_from(first))

    def _parse_describe_archive(self, first: Token) -> DescribeArchive:
        return DescribeArchive(self._name("an archive's name"), self._span_from(first))

    def _parse_delete_from_archive(self, first: Token) -> DeleteFromArchive:
        """Behind DELETE FROM ARCHIVE: the objects of which nothing is to be left."""
        name = self._name("an archive's name")
        self._expect(self._match(TokenType.WHERE), "WHERE key = …")
        column = self._name("the key's name")
        if self._match(TokenType.IN):
            self._match_l_paren()
            keys = [self._value("a key")]
            while self._match(TokenType.COMMA):
                keys.append(self._value("a key"))
            self._match_r_paren()
        else:
            self._expect(self._match(TokenType.EQ), "= and a key")
            keys = [self._value("a key")]
        return DeleteFromArchive(name, column, tuple(keys), self._span_from(first))
