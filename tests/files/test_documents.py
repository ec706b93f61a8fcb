from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from drakit.files import Document, UnreadableFile, read_documents

THING: Final = "{apiVersion: v1, kind: Node, metadata: {name: n}}"


def documents(*paths: str | Path, stdin: str = "") -> list[Document]:
    return list(read_documents(paths, io.StringIO(stdin)))


def of(text: str) -> list[Any]:
    """What the documents of a text say, as read from standard input."""
    return [document.content for document in documents("-", stdin=text)]


def complaint(text: str) -> str:
    with pytest.raises(UnreadableFile) as caught:
        of(text)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


# -- where documents come from ---------------------------------------------------------------------------------------


def test_yaml_documents_know_file_number_and_line(tmp_path: Path) -> None:
    file = write(tmp_path / "x.yaml", "# a comment\na: 1\n---\n# another\n\nb: 2\n")
    assert documents(file) == [
        Document(f"{file}, document 1 (line 2)", {"a": 1}),
        Document(f"{file}, document 2 (line 6)", {"b": 2}),
    ]


def test_a_json_file_is_one_document(tmp_path: Path) -> None:
    file = write(tmp_path / "x.json", '\n{"a": [1, 1.5, true, null, "2026-01-01"]}\n')
    (document,) = documents(file)
    assert document.content == {"a": [1, 1.5, True, None, "2026-01-01"]}
    assert document.where.startswith(f"{file}, document 1 (line ")


def test_json_in_a_yaml_file_and_yaml_in_a_json_file_are_read(tmp_path: Path) -> None:
    assert [d.content for d in documents(write(tmp_path / "x.yaml", '{"a": 1}'))] == [{"a": 1}]
    assert [d.content for d in documents(write(tmp_path / "x.json", "a: 1\n"))] == [{"a": 1}]


def test_several_json_objects_in_a_row_with_separators_are_several_documents(tmp_path: Path) -> None:
    file = write(tmp_path / "x.json", '{"a": 1}\n---\n{"b": 2}\n')
    assert [(d.where, d.content) for d in documents(file)] == [
        (f"{file}, document 1 (line 1)", {"a": 1}),
        (f"{file}, document 2 (line 3)", {"b": 2}),
    ]


def test_standard_input_is_read_as_yaml_or_json() -> None:
    assert of("a: 1\n---\nb: 2\n") == [{"a": 1}, {"b": 2}]
    assert of('{"a": 1}') == [{"a": 1}]
    assert documents("-", stdin="a: 1")[0].where == "<stdin>, document 1 (line 1)"


def test_a_folder_is_its_yaml_and_json_files_by_name(tmp_path: Path) -> None:
    for name in ("b.yaml", "a.yml", "c.json", "README.md", "d.yaml.bak"):
        write(tmp_path / name, f'{{"from": "{name}"}}')
    (tmp_path / "sub.yaml").mkdir()
    assert [document.content["from"] for document in documents(tmp_path)] == ["a.yml", "b.yaml", "c.json"]


def test_a_folder_without_such_files_is_an_error(tmp_path: Path) -> None:
    write(tmp_path / "README.md", "")
    with pytest.raises(UnreadableFile, match=r": the folder has no \.yaml, \.yml, \.json files$"):
        documents(tmp_path)


def test_files_are_read_in_the_order_given(tmp_path: Path) -> None:
    first, second = write(tmp_path / "z.yaml", "n: 1"), write(tmp_path / "a.yaml", "n: 2")
    assert [d.content["n"] for d in documents(first, "-", second, stdin="n: 7")] == [1, 7, 2]


@pytest.mark.parametrize("text", ["", "\n", "---\n", "---\n---\n", "# nothing\n", "null\n", "~\n", "--- null\n...\n"])
def test_empty_documents_are_left_out(text: str) -> None:
    assert of(text) == []


def test_empty_documents_are_counted_all_the_same() -> None:
    assert [d.where for d in documents("-", stdin="a: 1\n---\n---\nb: 2\n")] == [
        "<stdin>, document 1 (line 1)",
        "<stdin>, document 3 (line 4)",
    ]


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    for name, text in (("x.yaml", "a: 1\n"), ("x.json", '{"a": 1}')):
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert [document.content for document in documents(tmp_path)] == [{"a": 1}, {"a": 1}]


def test_lines_may_end_as_on_windows(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_bytes(b"a: 1\r\n---\r\nb: |\r\n  x\r\n")
    assert [document.content for document in documents(tmp_path)] == [{"a": 1}, {"b": "x\n"}]


# -- files that cannot be read ---------------------------------------------------------------------------------------


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"absent\.yaml: no such file or directory$"):
        documents(tmp_path / "absent.yaml")


def test_a_file_below_a_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"x\.yaml/y\.yaml: not a directory$"):
        documents(write(tmp_path / "x.yaml", "a: 1") / "y.yaml")


def test_a_name_no_file_can_have_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=r": file name too long$"):
        documents(tmp_path / ("x" * 5000))


def test_a_file_that_is_not_utf8_is_named_with_the_byte(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_bytes(b"a: \xff\n")
    with pytest.raises(UnreadableFile, match=r"x\.yaml: is not UTF-8 text \(byte 3\)$"):
        documents(tmp_path)


def test_standard_input_that_is_not_utf8_is_named() -> None:
    with pytest.raises(UnreadableFile, match=r"^<stdin>: is not UTF-8 text \(byte 3\)$"):
        list(read_documents(["-"], io.TextIOWrapper(io.BytesIO(b"a: \xff\n"), encoding="utf-8")))


def test_a_folder_without_permission_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(UnreadableFile, match=r": permission denied$"):
        documents(tmp_path)


def test_a_file_in_a_folder_without_permission_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, **_: object) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "stat", refuse)
    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(UnreadableFile, match=r": permission denied$"):
        documents(tmp_path / "x.yaml")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_permissions_are_those_of_the_file_system(tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0)
    for path in (folder, folder / "x.yaml"):
        with pytest.raises(UnreadableFile, match=r": permission denied$"):
            documents(path)


# -- YAML and JSON that is none --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("a: 1\nb: [1, 2\n", "<stdin>: is not valid YAML at line 3, column 1: "),
        ("a: 1\n  b: 2\n", "<stdin>: is not valid YAML at line 2, column 4: "),
        ("a: 'x\n", "<stdin>: is not valid YAML at line 2, column 1: "),
        ("a: 1\n\tb: 2\n", "<stdin>: is not valid YAML at line 2, column 1: "),
        ("a: *nowhere\n", "<stdin>: is not valid YAML at line 1, column 4: "),
        ("a: !!python/object:os.system x\n", "<stdin>: is not valid YAML at line 1, column 4: "),
        ("a: !mine x\n", "<stdin>: is not valid YAML at line 1, column 4: "),
        ("a: 1\n---\nb: }\n", "<stdin>: is not valid YAML at line 3, column 4: "),
        ("a: 1\x00\n", "<stdin>: is not valid YAML"),
        ("a: 1\x07\n", "<stdin>: is not valid YAML"),
        ("%YAML 9.0\n---\na: 1\n", "<stdin>: is not valid YAML"),
        ("? [1, 2]\n: x\n", "<stdin>: is not valid YAML at line 1, column 3: "),
    ],
)
def test_broken_yaml_is_told_with_line_and_column(text: str, start: str) -> None:
    said = complaint(text)
    assert said.startswith(start)
    assert len(said) > len(start) + 3


@pytest.mark.parametrize("value", ["!!timestamp x", "!!int x", "!!float x", "!!bool x", "!!int ''", "9" * 5000])
def test_a_scalar_that_is_not_what_it_says_is_an_error(value: str) -> None:
    assert complaint(f"a:\n  {value}\n").startswith("<stdin>")


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ('{"a": 1,\n "b": }', "<stdin>: is not valid JSON: "),
        ('{"a": 1', "<stdin>: is not valid JSON: "),
        ('{"a": ' + "9" * 5000 + "}", "<stdin>: "),
    ],
)
def test_broken_json_is_told_with_line_and_column(text: str, start: str) -> None:
    assert complaint(text).startswith(start)


def test_the_place_in_broken_json_is_told() -> None:
    assert "line 2 column 7" in complaint('{"a": 1,\n "b": }')


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("a: 1\nb: 2\na: 3\n", "at line 3, column 1: key 'a' stands twice"),
        ("x:\n  a: 1\n  a: 1\n", "at line 3, column 3: key 'a' stands twice"),
        ("- {a: 1, a: 2}\n", "at line 1, column 10: key 'a' stands twice"),
        ("a: 1\n'a': 2\n", "at line 2, column 1: key 'a' stands twice"),
    ],
)
def test_a_key_that_stands_twice_in_yaml_is_told_with_its_place(text: str, where: str) -> None:
    assert complaint(text) == f"<stdin>: is not valid YAML {where}"


def test_a_key_that_stands_twice_in_json_is_told() -> None:
    assert complaint('{"x": {"a": 1, "b": 2, "a": 3}}') == "<stdin>: is not valid JSON: key 'a' stands twice in one object"


def test_keys_that_an_anchor_merges_in_may_be_given_anew() -> None:
    assert of("base: &b {a: 1, b: 2}\nx:\n  <<: *b\n  a: 3\n") == [{"base": {"a": 1, "b": 2}, "x": {"a": 3, "b": 2}}]


@pytest.mark.parametrize("text", ["just words\n", "- a\n- b\n", "7\n", "true\n", "2026-01-01\n", '"x"\n', "[]\n", '["a"]'])
def test_a_document_that_is_no_object_is_an_error(text: str) -> None:
    assert complaint(text) == "<stdin>, document 1 (line 1): must be an object with apiVersion and kind"


def test_an_object_in_braces_may_be_yaml_after_all() -> None:
    assert of("{a: 1, b: [x]}\n---\n{c: 2}\n") == [{"a": 1, "b": ["x"]}, {"c": 2}]


# -- scalars as Kubernetes reads them --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-01",
        "2026-01-01T10:00:00Z",
        "2001-12-14 21:59:43.10 -5",
        "08:00:27",
        "190:20:30",
        "1:30",
        "190:20:30.15",
        "0000:08:00.0",
        "1.2.3",
        "580.95.05",
        "089",
        "80Gi",
        "=",
        "+",
        ".",
        "1e",
        "_1",
        "0x_",
        "0b_",
        "v1",
    ],
)
def test_what_looks_like_a_time_a_version_or_base_60_is_text(text: str) -> None:
    assert of(f"a: {text}\n") == [{"a": text}]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("7", 7),
        ("-7", -7),
        ("+7", 7),
        ("1_000", 1000),
        ("0x1F", 31),
        ("0b11", 3),
        ("010", 8),
        ("1.5", 1.5),
        ("-.5", -0.5),
        ("1e3", 1000.0),
        ("1.5e3", 1500.0),
        ("true", True),
        ("off", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("'7'", "7"),
        ('"true"', "true"),
        ("9223372036854775808", 2**63),
    ],
)
def test_numbers_truth_and_nothing_are_yamls(text: str, value: object) -> None:
    assert of(f"a: {text}\n") == [{"a": value}]
    assert type(of(f"a: {text}\n")[0]["a"]) is type(value)


# -- attacks ---------------------------------------------------------------------------------------------------------


def test_aliases_may_be_used(tmp_path: Path) -> None:
    assert of("x: &x {a: [1, 2]}\ny: *x\nz: [*x, *x]\n")[0]["z"] == [{"a": [1, 2]}, {"a": [1, 2]}]


def test_an_alias_bomb_is_refused_before_it_goes_off() -> None:
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    assert "once its aliases are unfolded" in complaint("\n".join(levels))


@pytest.mark.parametrize("text", ["&a [*a]\n", "a: &x {b: *x}\n", "a: &x [1, [2, *x]]\n", "&a {*a : 1}\n"])
def test_an_anchor_that_contains_itself_is_refused(text: str) -> None:
    assert complaint(text).startswith("<stdin>")


DEEP: Final = """
import io, sys
from drakit.files import UnreadableFile, read_documents
try:
    list(read_documents(["-"], io.StringIO(eval(sys.argv[1]))))
except UnreadableFile as error:
    print(error)
"""


@pytest.mark.parametrize("levels", [2_000, 10_000, 100_000])
@pytest.mark.parametrize(
    "text",
    [
        "'[' * N + ']' * N",
        "'{a: ' * N + '1' + '}' * N",
        "'- ' * N + 'x'",
        """'{"a":' * N + '1' + '}' * N""",
        """'{"a":' * N""",
        "'x: ' + '[' * N + ']' * N",
        "'[' * N",
    ],
)
def test_deep_nesting_ends_in_one_clear_error_and_not_in_a_crash(text: str, levels: int) -> None:
    command = [sys.executable, "-c", DEEP, text.replace("N", str(levels))]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stderr[-500:]
    (line,) = result.stdout.splitlines()
    assert line.startswith("<stdin>")
    assert len(line) < 300


# -- input made to hurt ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_json_has_no_such_numbers(number: str) -> None:
    assert complaint(f'{{"a": {number}}}') == f"<stdin>: is not valid JSON: {number} is no number in JSON"


def test_a_file_name_that_is_empty_is_an_error_and_not_the_current_folder() -> None:
    with pytest.raises(UnreadableFile, match="a file name is empty"):
        documents("")


def test_of_many_keys_in_a_json_object_the_one_that_stands_twice_is_named() -> None:
    many = ", ".join(f'"k{index}": 0' for index in range(100_000))
    assert complaint(f'{{{many}, "k77": 1}}') == "<stdin>: is not valid JSON: key 'k77' stands twice in one object"
    assert len(of(f"{{{many}}}")[0]) == 100_000


@pytest.mark.parametrize("text", ['{"a": 0, OPEN0CLOSE}', "a: 0\nb: OPEN0CLOSE\n"], ids=["json", "yaml"])
@pytest.mark.parametrize(("levels", "deep"), [(200, False), (300, True), (100_000, True)])
def test_nesting_ends_at_the_same_depth_in_yaml_and_json(text: str, levels: int, deep: bool) -> None:
    text = text.replace("OPEN", ('"b": ' if text.startswith("{") else "") + "[" * levels).replace("CLOSE", "]" * levels)
    if deep:
        assert complaint(text) == "<stdin>: is nested too deeply"
    else:
        assert of(text)[0]["a"] == 0


def test_yaml_and_json_agree_on_the_last_level_that_is_read() -> None:
    def read(text: str) -> bool:
        try:
            return bool(of(text))
        except UnreadableFile:
            return False

    answers = [
        (read(f'{{"a": {"[" * levels}0{"]" * levels}}}'), read(f"a: {'[' * levels}0{']' * levels}"))
        for levels in range(250, 262)
    ]
    assert [json for json, _ in answers] == [yaml for _, yaml in answers]
    assert {json for json, _ in answers} == {True, False}


def test_half_a_character_in_json_is_told() -> None:
    assert "is one half of a surrogate pair" in complaint('{"a": "\\ud800"}')
    assert of('{"a": "\\ud83d\\ude00"}') == [{"a": "\U0001f600"}]
