from __future__ import annotations

import pytest

from tests.docs.console import difference, matches, run, sessions


def test_a_block_is_read_as_commands_with_the_output_below_each() -> None:
    block = "$ drakit a -f x \\\n> -f y\none\n\ntwo\n$ drakit b\n$ drakit c\nthree\n"
    assert list(sessions(block)) == [("drakit a -f x -f y", "one\n\ntwo"), ("drakit b", ""), ("drakit c", "three")]


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        ("a\nb", "a\nb", True),
        ("a\nb", "a\n b", False),
        ("a\n...\nd", "a\nb\nc\nd", True),
        ("a\n...\nd", "a\nd", True),
        ("a\n...", "a\nb", True),
        ("...\nb", "a", False),
        ("a.c", "abc", False),
        ("", "", True),
        ("", "a", False),
    ],
)
def test_output_is_compared_line_by_line_and_dots_stand_for_any_lines(expected: str, printed: str, same: bool) -> None:
    assert matches(expected, printed) is same


def test_a_difference_shows_both_what_is_written_and_what_was_printed() -> None:
    assert "-something else\n" in difference("drakit --version", "something else")
    assert "+drakit" in difference("drakit --version", "something else")


def test_only_drakit_is_run_from_documentation() -> None:
    with pytest.raises(ValueError, match="'rm' is `sh`"):
        run("rm -r x")
