from __future__ import annotations

import importlib
import json
import os
import re
import signal
import subprocess
import sys
from importlib import metadata

import click
import pytest

from drakit import Device
from drakit.cli import COMMANDS, cli, main
from tests.cli.running import EXAMPLES, ROOT, drakit
from tests.cli.worlds import cluster, device_claim, listing, node
from tests.hooks.entries import acme, entry, install


def command_named(name: str) -> click.Command:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    return command


@pytest.mark.parametrize(("name", "listed"), COMMANDS.items())
def test_the_summary_in_the_list_of_commands_is_what_the_command_says_of_itself(name: str, listed: str) -> None:
    own = (command_named(name).help or "").split("\n\n")[0]
    assert " ".join(own.split()) == listed


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_the_module_of_its_name(name: str) -> None:
    module = importlib.import_module(f"drakit.cli.{name.replace('-', '_')}")
    assert module.command is command_named(name)
    assert module.command.name == name


@pytest.mark.parametrize("arguments", [[], *([name] for name in COMMANDS)])
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_every_help_has_an_example_that_calls_the_command(arguments: list[str], flag: str) -> None:
    result = drakit(*arguments, flag)
    assert (result.code, result.err) == (0, "")
    assert re.search(r"^  Examples?:$", result.out, re.MULTILINE)
    assert re.search(rf"^ .*drakit {arguments[0] if arguments else ''}", result.out, re.MULTILINE)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_files_that_examples_name_are_there(name: str) -> None:
    for path in re.findall(r"\bexamples/\S+", drakit(name, "--help").out):
        assert (ROOT / path).is_file()


def test_help_lists_every_command() -> None:
    out = drakit("--help").out
    assert [name for name in COMMANDS if f"  {name} " not in out] == []


def test_the_version_is_the_distributions() -> None:
    assert drakit("--version").out.split()[-1] == metadata.version("drakit")


@pytest.mark.parametrize(
    "arguments",
    [["simulat"], ["simulate", "--nothing"], ["simulate", "-o", "xml", "-f", "-"], ["simulate"], ["view"], ["slices"]],
)
def test_a_call_that_is_wrong_is_told_and_ends_with_2(arguments: list[str]) -> None:
    result = drakit(*arguments)
    assert (result.code, result.out) == (2, "")
    assert "Error: " in result.err


def test_a_fault_of_drakit_is_one_line_and_says_how_to_see_more(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("one\ntwo")

    monkeypatch.delenv("DRAKIT_DEBUG", raising=False)
    monkeypatch.setattr("drakit.files.read_cluster", fail)
    result = drakit("simulate", "-f", "-")
    expected = "error: drakit has a fault: ZeroDivisionError: one two; DRAKIT_DEBUG=1 shows where\n"
    assert (result.code, result.out, result.err) == (2, "", expected)
    monkeypatch.setenv("DRAKIT_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        drakit("simulate", "-f", "-")


def test_a_command_that_is_misspelt_gets_the_nearest_one() -> None:
    assert "no such command 'simulat', did you mean 'simulate'?" in drakit("simulat").err
    assert "did you mean" not in drakit("xyzzy").err


def test_as_a_plugin_of_kubectl_it_is_called_kubectl_dra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["/usr/local/bin/kubectl-dra", "--help"])
    with pytest.raises(SystemExit):
        main()
    assert capsys.readouterr().out.startswith("Usage: kubectl dra ")


def test_no_documents_at_all_are_an_error_and_nodes_alone_ask_for_nothing() -> None:
    for text in ("", "---\n", listing()):
        nothing = drakit("simulate", "-f", "-", stdin=text)
        assert (nothing.code, nothing.out) == (2, "")
        assert "no documents" in nothing.err
    alone = drakit("simulate", "-f", "-", stdin=listing(node()))
    assert (alone.code, alone.err) == (0, "")
    assert "nothing was asked for" in alone.out


def test_questions_come_from_standard_input_and_not_from_files() -> None:
    result = drakit("simulate", "--jsonl", "-f", "-")
    assert (result.code, result.out) == (2, "")
    assert "--jsonl reads standard input" in result.err


def test_an_unknown_field_of_a_question_is_an_error_with_the_nearest_name() -> None:
    result = drakit("simulate", "--jsonl", stdin='{"claim": []}\n{}\n')
    first, second = map(json.loads, result.out.splitlines())
    assert 'unknown field "claim", did you mean "claims"?' in first["error"]
    assert second["error"] != first["error"], "the next question is answered"


INVENTORY = json.dumps({"apiVersion": "drakit/v1alpha1", "kind": "Inventory", "metadata": {"name": "mine"}, "plugin": "acme"})


def test_what_a_plugin_prints_does_not_get_into_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def discover() -> list[Device]:
        print("looking for cards")  # noqa: T201 - as a careless plugin does
        return [Device("card")]

    install(monkeypatch, entry("acme", acme(discover=discover)))
    result = drakit("simulate", "-f", "-", "-o", "json", stdin=INVENTORY)
    json.loads(result.out)
    assert "looking for cards" in result.err


@pytest.mark.parametrize(("debug", "shown"), [("", False), ("0", False), ("1", True)])
def test_where_a_plugin_failed_is_shown_if_asked_for(monkeypatch: pytest.MonkeyPatch, debug: str, shown: bool) -> None:
    def fail_far_inside() -> None:
        raise OSError("card fell off the bus")

    monkeypatch.setenv("DRAKIT_DEBUG", debug)
    install(monkeypatch, entry("acme", acme(discover=fail_far_inside)))
    result = drakit("simulate", "-f", "-", stdin=INVENTORY)
    where = "error: <stdin>, document 1 (line 1): "
    assert f"{where}plugin acme: drakit_discover: OSError: card fell off the bus" in result.err
    assert ("fail_far_inside" in result.err) == shown


@pytest.mark.parametrize("columns", ["1", "0", "-5", "wide", "", "²"])
def test_without_a_terminal_only_a_sensible_width_is_heeded(monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    asked = cluster(device_claim("c", 3))
    monkeypatch.delenv("COLUMNS", raising=False)
    normal = drakit("simulate", "-f", "-", stdin=asked).out
    monkeypatch.setenv("COLUMNS", columns)
    assert drakit("simulate", "-f", "-", stdin=asked).out == normal


# -- as a process ----------------------------------------------------------------------------------------------------


def run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "drakit", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, cwd=ROOT, timeout=60, check=False)


@pytest.mark.parametrize("module", ["drakit", "drakit.cli"])
def test_the_modules_are_the_command(module: str) -> None:
    result = subprocess.run([sys.executable, "-m", module, "--version"], capture_output=True, text=True, check=True)
    assert result.stdout.startswith("drakit, version ")


def test_a_process_reads_its_standard_input_and_says_so_by_its_exit_status() -> None:
    assert run("simulate", "-f", "-", stdin=cluster(device_claim("c"))).returncode == 0
    assert run("simulate", "-f", "-", stdin=cluster(device_claim("c", 3))).returncode == 1
    broken = run("simulate", "-f", "-", stdin="a: [")
    assert (broken.returncode, broken.stdout) == (2, "")
    assert broken.stderr.startswith("error: <stdin>: is not valid YAML at line ")


@pytest.mark.parametrize("output", ["json", "table"])
def test_text_that_no_terminal_can_show_is_no_fault(output: str) -> None:
    stdin = cluster(device_claim("c\\ud800")).replace("\\\\ud800", "\\ud800")
    result = run("simulate", "-f", "-", "-o", output, stdin=stdin)
    assert "fault" not in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("output", ["json", "yaml", "table"])
def test_a_reader_that_leaves_early_sees_no_traceback(output: str) -> None:
    claims = [device_claim(f"c{index}") for index in range(3000)]
    process = subprocess.Popen(
        [sys.executable, "-m", "drakit", "simulate", "-f", "-", "-o", output],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONUNBUFFERED": ""},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    with process:
        process.stdin.write(cluster(*claims, devices=3).encode())
        process.stdin.close()
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode in (1, -signal.SIGPIPE, 128 + signal.SIGPIPE)


@pytest.mark.needs("tpu")
@pytest.mark.parametrize("arguments", ["view", "simulate", "simulate -o json", "slices"])
def test_head_of_an_example_has_one_line_and_no_complaint(arguments: str) -> None:
    command = f"{sys.executable} -m drakit {arguments} -f {EXAMPLES / 'tpu-16x16-failed-host.yaml'} | head -1"
    result = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=True)
    assert len(result.stdout.splitlines()) == 1
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ("plugins >&-", "error: standard output is closed, and so is the way for an answer\n"),
        ("simulate --jsonl <&-", "Error: --jsonl reads standard input, which is closed\n"),
        ("simulate -f - <&-", "error: <stdin>: is closed\n"),
    ],
)
def test_a_closed_stream_that_is_needed_is_told(command: str, complaint: str) -> None:
    command = f"{sys.executable} -m drakit {command}"
    result = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.endswith(complaint)


def test_a_question_that_is_not_utf_8_is_answered_and_the_next_one_too() -> None:
    words = [sys.executable, "-m", "drakit", "simulate", "--jsonl"]
    result = subprocess.run(words, input=b'{"a": "\xff"}\n{"a": 1}\n', capture_output=True, timeout=60, check=True)
    first, second = map(json.loads, result.stdout.splitlines())
    assert first["error"].startswith("the line is not JSON: ")
    assert second["error"] == 'question: unknown field "a"'


def test_an_interrupt_ends_a_long_simulation_with_130_and_no_traceback() -> None:
    claims = [device_claim(f"c{index}") for index in range(60_000)]
    process = subprocess.Popen(
        [sys.executable, "-m", "drakit", "simulate", "-f", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Whatever a shell starts in the background ignores interrupts, and so does what that starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  # no threads here
    )
    assert process.stdin is not None
    assert process.stderr is not None
    with process:
        process.stdin.write(cluster(*claims, devices=3))  # more than a pipe holds: it is reading when this returns
        process.stdin.close()
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=60)
        finally:
            process.kill()
        assert "Traceback" not in process.stderr.read()
    assert process.returncode == 130
