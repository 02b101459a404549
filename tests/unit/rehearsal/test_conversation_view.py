"""A client may wrap the user's words. The rehearsal reads only the words."""

from __future__ import annotations

import pytest

from dragoman.rehearsal.conversation_view import user_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('"Run the command `cat notes.txt`"', "Run the command `cat notes.txt`"),
        ('<environment_context>\n  <cwd>/w</cwd>\n</environment_context> "Say hi"', "Say hi"),
        ('"Paris" or "Rome"', '"Paris" or "Rome"'),
        ('Say "hi"', 'Say "hi"'),
        ('""', '""'),
    ],
)
def test_quotes_around_the_whole_text_are_removed(text: str, words: str) -> None:
    assert user_words(text) == words
