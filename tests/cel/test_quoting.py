from __future__ import annotations

import pytest

from drakit.cel.go.quoting import quoted


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", '""'),
        ("1.2", '"1.2"'),
        ('a"b\\c', r'"a\"b\\c"'),
        ("3\n\t\x00\x7f", r'"3\n\t\x00\x7f"'),
        ("é\u00a0\u2028", '"é\\u00a0\\u2028"'),
        ("🙂\U000e0001", '"🙂\\U000e0001"'),
    ],
)
def test_text_is_quoted_as_go_does_it(text: str, expected: str) -> None:
    assert quoted(text) == expected
