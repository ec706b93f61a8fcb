"""Files in, a cluster out: objects, ``v1`` Lists of them, and Inventory documents, which plugins expand.

Every error names the file, the document and its line.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
from attrs import field, frozen

from drakit.allocation import Cluster, DuplicateObject
from drakit.files.documents import Document, TextStream, UnreadableFile, read_documents
from drakit.hooks import PluginError, Plugins, expand
from drakit.model import DrakitError, ResourceSlice
from drakit.model.collections import frozen_tuple
from drakit.model.errors import did_you_mean
from drakit.model.wire import KINDS, KubernetesObject, decode
from drakit.topology import pack

__all__ = ["Loaded", "load", "read_cluster"]


@frozen(kw_only=True)
class Loaded:
    """What files contain."""

    cluster: Cluster
    slices: tuple[ResourceSlice, ...] = field(converter=frozen_tuple)
    """The slices that came from Inventory documents."""
    plugin_errors: tuple[PluginError, ...] = field(default=(), converter=frozen_tuple)
    """Plugins that failed while an Inventory was expanded; what they add is missing."""


def load(*paths: str | Path, plugins: Plugins | None = None) -> Cluster:
    """The cluster that files describe.

    :param paths: YAML or JSON files, folders of them, or ``-`` for standard input; in order.
    :param plugins: for Inventory documents; None: those that are installed, loaded when they are needed.
    :raises DrakitError: a file, a document or a field that is wrong, or a plugin that fails, with where it is.
    """
    loaded = read_cluster(paths, plugins=plugins)
    if loaded.plugin_errors:
        raise loaded.plugin_errors[0]
    return loaded.cluster


def read_cluster(paths: Iterable[str | Path], *, plugins: Plugins | None = None, stdin: TextStream | None = None) -> Loaded:
    """As :func:`load`, but a plugin that fails for others is reported and the rest is still there.

    :raises DrakitError: as :func:`load`.
    """
    with _uncollected():
        reader = _Reader(plugins)
        for document in read_documents(paths, stdin or _StandardInput()):
            reader.add(document)
        return reader.finish()


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """No search for garbage meanwhile: there is next to none, and looking takes two thirds of the time for a large file."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _StandardInput:
    """Standard input as strict UTF-8, whatever the locale makes Python think of it; not touched unless it is read."""

    def read(self) -> str:
        if sys.stdin is None:
            raise UnreadableFile("<stdin>: is closed")
        buffer = getattr(sys.stdin, "buffer", None)
        return sys.stdin.read() if buffer is None else str(buffer.read(), "utf-8", "strict")


class _Reader:
    """Collects objects; explicit ones win over what an Inventory brings along."""

    def __init__(self, plugins: Plugins | None) -> None:
        self._plugins = plugins
        self.objects: dict[tuple[type, str], KubernetesObject] = {}
        self.brought: dict[tuple[type, str], KubernetesObject] = {}
        self.slices: list[ResourceSlice] = []
        self.errors: dict[str, PluginError] = {}
        self.given: set[tuple[type, str]] = set()
        self.numbers: dict[tuple[type, str, str], Iterator[int]] = {}

    @property
    def plugins(self) -> Plugins:
        if self._plugins is None:
            self._plugins = Plugins.load(os.environ)
        return self._plugins

    def add(self, document: Document) -> None:
        content = document.content
        kind = content.get("kind")
        if kind == "List" or (isinstance(kind, str) and kind.removesuffix("List") in KINDS and kind not in KINDS):
            self._add_list(document, kind.removesuffix("List"))
        elif kind == "Inventory":
            with _located(document.where):
                try:
                    failures = self._expand(content)
                except PluginError as error:
                    failures = [error]
                    self._bring(self.plugins[error.plugin].classes if error.plugin in self.plugins else ())
            for failure in failures:  # one that several documents meet is told where it was met first
                if self.errors.setdefault(str(failure), failure) is failure:
                    failure.where = document.where
        else:
            with _located(document.where):
                self._keep(decode(content))

    def _add_list(self, document: Document, kind: str) -> None:
        """The items of a ``List``, or of a ``NodeList`` and the like, whose items do not say what they are."""
        said = {"apiVersion": document.content.get("apiVersion"), "kind": kind} if kind else {}
        for name in document.content.keys() - {"apiVersion", "kind", "metadata", "items"}:
            raise UnreadableFile(f'{document.where}: unknown field "{name}"{did_you_mean(name, ["items", "metadata"])}')
        items = document.content.get("items")
        if items is None:
            return
        if not isinstance(items, list):
            raise UnreadableFile(f"{document.where}: items: must be a list")
        for index, item in enumerate(items):
            where = f"{document.where}, items[{index}]"
            if not isinstance(item, Mapping):
                raise UnreadableFile(f"{where}: must be an object with apiVersion and kind")
            self.add(Document(where, {**said, **item}))

    def _keep(self, obj: KubernetesObject) -> None:
        key = (type(obj), obj.metadata.key)
        if not obj.metadata.name:
            key = (type(obj), f"unnamed #{len(self.objects)}")  # no name has a space
        if key in self.objects:
            raise DuplicateObject(f"{type(obj).__name__} {obj.metadata.key} was already given by another document")
        self.objects[key] = obj

    def _expand(self, content: Mapping[str, Any]) -> Sequence[PluginError]:
        """Take in what an Inventory stands for.

        :returns: what other plugins did wrong on the way.
        """
        expansion = expand(self.plugins, content)
        self._bring([*expansion.nodes, *expansion.classes])
        for pool in expansion.pools:
            for slice_ in pack(pool):
                self._keep(slice_)
                self.slices.append(slice_)
        return expansion.errors

    def _bring(self, objects: Iterable[KubernetesObject]) -> None:
        """What a plugin brings along; the classes even where its hardware could not be read."""
        for obj in objects:
            self.brought.setdefault((type(obj), obj.metadata.key), obj)

    def finish(self) -> Loaded:
        self.given = {*self.objects, *self.brought}
        brought = [obj for key, obj in self.brought.items() if key not in self.objects]
        cluster = Cluster.of([*brought, *map(self._named, self.objects.values())])
        return Loaded(cluster=cluster, slices=self.slices, plugin_errors=self.errors.values())

    def _named(self, obj: KubernetesObject) -> KubernetesObject:
        """An object with only a generateName gets the first number that makes it a name of its own, as good as any."""
        if obj.metadata.name:
            return obj
        numbers = self.numbers.setdefault((type(obj), obj.metadata.namespace, obj.metadata.generate_name), itertools.count(1))
        names = (f"{obj.metadata.generate_name}{number}" for number in numbers)
        named = (attrs.evolve(obj, metadata=attrs.evolve(obj.metadata, name=name)) for name in names)
        found = next(candidate for candidate in named if (type(obj), candidate.metadata.key) not in self.given)
        self.given.add((type(obj), found.metadata.key))
        return found


@contextlib.contextmanager
def _located(where: str) -> Iterator[None]:
    """Puts where it happened in front of an error's message, on each of its lines."""
    try:
        yield
    except UnreadableFile:
        raise
    except DrakitError as error:
        raise UnreadableFile("\n".join(f"{where}: {line}" for line in str(error).splitlines())) from error
