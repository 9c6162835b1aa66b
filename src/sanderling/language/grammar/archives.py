"""CREATE ARCHIVE and what else is said of archives.

A mix-in of the dialect's parser.
"""

from __future__ import annotations

from sqlglot.tokenizer_core import Token

from sanderling.language.grammar.mixin import Mixin
from sanderling.language.statements import CreateArchive, DescribeArchive, Name


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
