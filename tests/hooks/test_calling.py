from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import pytest

from drakit import Clique, Device, Domain, DomainSource, Host, Member, Problem, Split
from drakit.hooks import PluginError, Plugins
from drakit.hooks.objects import AllocatedDevice, DeviceEdits, Journal
from drakit.model import DeviceID, ObjectMeta, ResourceClaim
from tests.hooks.entries import ACME, Namer, acme, entry, install, plugin

DOMAIN: Final = Domain("d", [Member("m0", node="n0")])


def with_hook(name: str, function: Callable[..., object]) -> Plugins:
    plugins = Plugins()
    plugins.register(plugin(**{name: function}), "acme")
    return plugins


def ask(plugins: Plugins, hook: str) -> object:
    questions: dict[str, Callable[[], object]] = {
        "discover": lambda: plugins.discover("acme", Host("h0")),
        "domains": lambda: plugins.domains("acme", DomainSource()),
        "partitions": lambda: plugins.partitions("acme", DOMAIN),
        "attributes": lambda: plugins.attributes("acme", Device("d"), ACME),
        "health": lambda: plugins.health("acme", Device("d"), ACME),
    }
    return questions[hook]()


COLLECTED: Final = ["discover", "domains", "attributes", "health"]


@pytest.mark.parametrize(
    ("hook", "answer", "heard"),
    [
        ("discover", [Device("a"), Device("b")], [Device("a"), Device("b")]),
        ("discover", (Device("a"),), [Device("a")]),
        ("discover", iter([Device("a")]), [Device("a")]),
        ("discover", None, []),
        ("discover", [], []),
        ("domains", [DOMAIN], [DOMAIN]),
        ("domains", None, []),
        ("attributes", {"a": 1}, {"a": 1}),
        ("attributes", None, {}),
        ("attributes", {}, {}),
        ("health", [Problem("ecc")], [Problem("ecc")]),
        ("health", None, []),
        ("partitions", None, None),
        ("partitions", Split([2]), Split([2])),
        ("partitions", Clique("c", "n"), Clique("c", "n")),
    ],
)
def test_a_hook_may_answer_with_anything_that_lists_or_with_nothing(hook: str, answer: object, heard: object) -> None:
    assert ask(with_hook(hook, lambda: answer), hook) == heard


@pytest.mark.parametrize("hook", [*COLLECTED, "partitions"])
def test_a_plugin_without_the_hook_has_nothing_to_say(hook: str) -> None:
    plugins = Plugins()
    plugins.register(acme(), "acme")
    assert not ask(plugins, hook)


@pytest.mark.parametrize("hook", [*COLLECTED, "partitions"])
@pytest.mark.parametrize("error", [ValueError("bad"), SystemExit("bad"), RecursionError("bad")])
def test_what_a_hook_raises_is_blamed_on_plugin_and_hook(hook: str, error: BaseException) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(PluginError) as caught:
        ask(with_hook(hook, fail), hook)
    assert str(caught.value) == f"plugin acme: drakit_{hook}: {type(error).__name__}: bad"
    assert (caught.value.plugin, caught.value.hook) == ("acme", f"drakit_{hook}")
    assert caught.value.__cause__ is error


@pytest.mark.parametrize(("hook", "first"), [("discover", Device("a")), ("domains", DOMAIN), ("health", Problem("p"))])
def test_a_generator_that_fails_in_the_middle_is_blamed_too(hook: str, first: object) -> None:
    def fail() -> Iterator[object]:
        yield first
        raise OSError("card fell off the bus")

    with pytest.raises(PluginError, match=f"plugin acme: drakit_{hook}: OSError: card fell off the bus"):
        ask(with_hook(hook, fail), hook)


@pytest.mark.parametrize(
    ("hook", "answer"),
    [
        ("discover", Device("a")),
        ("discover", "gpu-0"),
        ("discover", ["gpu-0"]),
        ("discover", {"gpu-0": Device("a")}),
        ("discover", 7),
        ("domains", [Device("a")]),
        ("domains", ["d"]),
        ("partitions", "2x2"),
        ("partitions", [2, 4]),
        ("attributes", 7),
        ("attributes", "model"),
        ("attributes", ["model"]),
        ("attributes", [("model", "m1", "m2")]),
        ("attributes", [("model",)]),
        ("attributes", {7: "model"}),
        ("attributes", [([], "model")]),
        ("health", Problem("ecc")),
        ("health", ["ecc"]),
        ("health", "ecc"),
        ("health", True),
    ],
)
def test_a_wrong_result_is_blamed_on_plugin_and_hook(hook: str, answer: object) -> None:
    with pytest.raises(PluginError, match=rf"^plugin acme: drakit_{hook}: ") as caught:
        ask(with_hook(hook, lambda: answer), hook)
    assert "\n" not in str(caught.value)


def test_a_long_wrong_result_is_shortened() -> None:
    with pytest.raises(PluginError) as caught:
        ask(with_hook("discover", lambda: ["x" * 10_000]), "discover")
    assert len(str(caught.value)) < 200


def test_only_the_plugin_that_is_asked_is_called() -> None:
    plugins = Plugins()
    plugins.register(acme("a.example.com", discover=lambda: [Device("a")]), "a")
    plugins.register(acme("b.example.com", discover=lambda: [Device("b")]), "b")
    assert plugins.discover("a", Host("h")) == [Device("a")]
    assert plugins.discover("b", Host("h")) == [Device("b")]


def test_plugins_registered_after_the_first_question_are_asked_too_and_kept_apart() -> None:
    plugins = Plugins()
    plugins.register(acme("a.example.com", discover=lambda: [Device("a")]), "a")
    assert plugins.discover("a", Host("h")) == [Device("a")]
    plugins.register(acme("b.example.com", discover=lambda: [Device("b")]), "b")
    assert plugins.discover("a", Host("h")) == [Device("a")]
    assert plugins.discover("b", Host("h")) == [Device("b")]


def test_a_hook_gets_the_arguments_it_names_only() -> None:
    heard: list[Any] = []

    def health(driver: str) -> None:
        heard.append(driver)

    ask(with_hook("health", health), "health")
    assert heard == [ACME]


# -- DRAKIT_TRACE ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["", "0"])
def test_nothing_is_traced_unless_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], value: str
) -> None:
    install(monkeypatch, entry("namer", Namer()))
    Plugins.load({"DRAKIT_TRACE": value}).attributes("namer", Device("d"), ACME)
    assert capsys.readouterr() == ("", "")


def test_every_hook_call_is_traced_before_and_after_on_standard_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install(monkeypatch, entry("namer", Namer()))
    plugins = Plugins.load({"DRAKIT_TRACE": "1"})
    capsys.readouterr()
    plugins.attributes("namer", Device("d"), ACME)
    out, err = capsys.readouterr()
    before, after = err.splitlines()
    assert out == ""
    assert before.startswith("drakit: drakit_attributes(")
    assert f"driver='{ACME}'" in before
    assert before.endswith(" -> namer")
    assert after == "drakit: drakit_attributes = [{'example.com/nick': 'd'}]"


def test_the_trace_shows_what_a_hook_raised_and_nothing_where_there_is_no_hook() -> None:
    lines: list[str] = []

    def fail() -> None:
        raise ValueError("bad")

    plugins = Plugins(trace=lines.append)
    plugins.register(acme(discover=fail), "acme")
    lines.clear()
    with pytest.raises(PluginError):
        ask(plugins, "discover")
    ask(plugins, "health")
    assert lines[1:] == ["drakit: drakit_discover = raised plugin acme: drakit_discover: ValueError: bad"]


def test_the_trace_shows_what_a_generator_gave() -> None:
    lines: list[str] = []

    def discover() -> Iterator[Device]:
        yield Device("card")

    plugins = Plugins(trace=lines.append)
    plugins.register(acme(discover=discover), "acme")
    lines.clear()
    ask(plugins, "discover")
    assert lines[1].startswith("drakit: drakit_discover = [Device(name='card'")


# -- the hooks of the node role ----------------------------------------------------------------------------------------


class Notes:
    """A journal in memory."""

    def __init__(self) -> None:
        self.noted: list[tuple[str, Mapping[str, Any]]] = []

    def record(self, step: str, undo: Mapping[str, Any]) -> None:
        self.noted.append((step, undo))

    def steps(self) -> list[tuple[str, Mapping[str, Any]]]:
        return self.noted


CLAIM: Final = ResourceClaim(metadata=ObjectMeta(name="c", namespace="ns"))
HELD: Final = AllocatedDevice(id=DeviceID(ACME, "h0", "card"), request="r")


def ask_node_role(plugins: Plugins, hook: str) -> object:
    questions: dict[str, Callable[[], object]] = {
        "validate_config": lambda: plugins.validate_config("acme", {"kind": "Config"}),
        "prepare": lambda: plugins.prepare("acme", CLAIM, (HELD,), Notes()),
        "unprepare": lambda: plugins.unprepare("acme", "uid-1", (HELD,), Notes()),
        "environment": lambda: plugins.environment("acme", CLAIM, HELD, Host("h0")),
    }
    return questions[hook]()


NODE_ROLE: Final = ["validate_config", "prepare", "unprepare", "environment"]
EDITS: Final = HELD.edits(env={"CARD": "0"})


@pytest.mark.parametrize(
    ("hook", "answer", "heard"),
    [
        ("validate_config", {"decoded": 1}, {"decoded": 1}),
        ("validate_config", None, None),
        ("prepare", [EDITS], [EDITS]),
        ("prepare", iter([EDITS]), [EDITS]),
        ("prepare", None, []),
        ("unprepare", None, None),
        ("unprepare", "anything", None),
        ("environment", {"RANK": "0"}, {"RANK": "0"}),
        ("environment", None, {}),
    ],
)
def test_the_node_role_hears_what_its_hooks_answer(hook: str, answer: object, heard: object) -> None:
    assert ask_node_role(with_hook(hook, lambda: answer), hook) == heard


@pytest.mark.parametrize("hook", NODE_ROLE)
def test_a_plugin_without_a_hook_of_the_node_role_has_nothing_to_say(hook: str) -> None:
    plugins = Plugins()
    plugins.register(acme(), "acme")
    assert not ask_node_role(plugins, hook)


def test_the_journal_goes_from_prepare_to_unprepare() -> None:
    notes, undone = Notes(), list[object]()

    def prepare(devices: tuple[AllocatedDevice, ...], journal: Journal) -> Iterator[DeviceEdits]:
        for held in devices:
            journal.record("bind", {"card": held.id.device})
            yield held.edits()

    def unprepare(claim_uid: str, journal: Journal) -> None:
        undone.extend([claim_uid, *journal.steps()])

    plugins = Plugins()
    plugins.register(plugin(prepare=prepare, unprepare=unprepare), "acme")
    assert plugins.prepare("acme", CLAIM, (HELD,), notes) == [DeviceEdits(device=HELD.id)]
    plugins.unprepare("acme", "uid-1", (HELD,), notes)
    assert undone == ["uid-1", ("bind", {"card": "card"})]


@pytest.mark.parametrize(
    ("hook", "answer"),
    [
        ("prepare", EDITS),
        ("prepare", ["edits"]),
        ("prepare", "edits"),
        ("prepare", {"edits": EDITS}),
        ("environment", ["RANK=0"]),
        ("environment", "RANK=0"),
        ("environment", {0: "RANK"}),
    ],
)
def test_a_wrong_result_for_the_node_role_is_blamed_on_plugin_and_hook(hook: str, answer: object) -> None:
    with pytest.raises(PluginError, match=rf"^plugin acme: drakit_{hook}: "):
        ask_node_role(with_hook(hook, lambda: answer), hook)


class Odd(BaseException):
    """Neither an Exception nor an interrupt."""


class Mute(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (GeneratorExit("bad"), "GeneratorExit: bad"),
        (Odd("bad"), "Odd: bad"),
        (Mute(), "Mute: no message"),
        (SystemExit(3), "SystemExit: 3"),
    ],
)
@pytest.mark.parametrize("hook", [*COLLECTED, "partitions", *NODE_ROLE])
def test_whatever_a_hook_raises_is_reported_as_its_fault(hook: str, error: BaseException, told: str) -> None:
    def fail() -> None:
        raise error

    question = ask_node_role if hook in NODE_ROLE else ask
    with pytest.raises(PluginError) as caught:
        question(with_hook(hook, fail), hook)
    assert str(caught.value) == f"plugin acme: drakit_{hook}: {told}"


class Unspeakable:
    def __repr__(self) -> str:
        raise ValueError("no text")


@pytest.mark.parametrize("hook", [*COLLECTED, "partitions", "prepare", "environment"])
@pytest.mark.parametrize("wrap", [lambda answer: answer, lambda answer: [answer]], ids=["alone", "in a list"])
def test_an_answer_that_cannot_even_be_shown_is_blamed_too(hook: str, wrap: Callable[[object], object]) -> None:
    question = ask_node_role if hook in NODE_ROLE else ask
    with pytest.raises(PluginError, match=rf"^plugin acme: drakit_{hook}: "):
        question(with_hook(hook, lambda: wrap(Unspeakable())), hook)
