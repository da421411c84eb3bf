"""Results as plain values, and their JSON Schemas, both derived from the classes."""

from __future__ import annotations

import inspect
import re
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache, cached_property
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

Json: TypeAlias = dict[str, Any]
"""Plain values by name, as ``to_dict`` returns and ``json.dumps`` accepts them."""

MaybeNaN: TypeAlias = Annotated[float, None]
"""Number that is NaN (null in JSON) if the data do not define it."""

SCHEMA = 1
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
_CLASSES: dict[str, type] = {}
_Class = TypeVar("_Class", bound=type)


class Written(NamedTuple):
    """Keys of a class to write, as text, and its kind if it is an independent result."""

    keys: str | None
    kind: str | None
    schema: int


class Key(NamedTuple):
    """Key to write: the path of its value, and the keys of the value if not the default."""

    name: str
    path: tuple[str, ...]
    in_place: bool
    optional: bool
    keys: tuple[Key, ...] | None


def written(
    keys: str | None = None, *, kind: str | None = None, schema: int = SCHEMA
) -> Callable[[_Class], _Class]:
    """Declare the keys that ``to_dict`` writes for a class, in order.

    Types and descriptions in the JSON Schema come from the annotations and docstrings of the
    class, so only names are needed here.

    Parameters
    ----------
    keys
        Names of fields, properties and methods without arguments, separated by spaces. Default:
        all fields. ``n=spec.n`` writes another attribute under the name ``n``, ``chain?`` is
        omitted if it is None, ``*spec`` writes the keys of ``spec`` in place, and
        ``rope{low high}`` writes only these keys of ``rope``.
    kind, schema
        Kind of result and its version, written first; none for parts of results.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @written("low high width?")
    ... @dataclass
    ... class Ends:
    ...     low: float
    ...     high: float
    ...     width: float | None = None
    >>> to_json(Ends(0.1, float("nan")))
    {'low': 0.1, 'high': None}
    """

    def declare(cls: _Class) -> _Class:
        cast("Any", cls).__written__ = Written(keys, kind, schema)
        _CLASSES[cls.__name__] = cls
        return cls

    return declare


class Plain:
    """Result with plain values, which :func:`written` declares."""

    __slots__ = ()

    def to_dict(self) -> Json:
        """Return everything but the draws as plain values, with a schema version."""
        return to_json(self)


def to_json(value: object, keys: str | None = None) -> Json:
    """Return an object of a :func:`written` class as plain values; NaN becomes None.

    Parameters
    ----------
    value
        Object of a class that :func:`written` declares.
    keys
        Keys to write, as in :func:`written`. Default: those of its class.
    """
    record: Json = _plain(value, None if keys is None else _parsed(keys))
    return record


def _plain(value: Any, keys: tuple[Key, ...] | None) -> Any:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return None if value != value else float(value)
    cls: Any = type(value)
    if hasattr(cls, "__written__"):
        return _record(value, cls, _keys_of(cls) if keys is None else keys)
    if isinstance(value, Mapping):
        return {key: _plain(part, keys) for key, part in value.items()}
    import numpy as np  # slow to import, and not needed for command-line help

    if isinstance(value, np.ndarray) and (value.dtype.kind != "f" or not np.isnan(value).any()):
        return value.tolist()  # a Python loop over a large table would be slow
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist(), keys)
    return [_plain(part, keys) for part in value]


def _record(value: object, cls: Any, keys: tuple[Key, ...]) -> Json:
    declared: Written = cls.__written__
    record: Json = {}
    if declared.kind is not None and keys is _keys_of(cls):
        record = {"schema": declared.schema, "kind": declared.kind}
    for key in keys:
        part: Any = value
        for name in key.path:
            part = None if part is None else getattr(part, name)
        if isinstance(part, types.MethodType):
            part = part()
        if key.in_place:
            record |= {} if part is None else _plain(part, key.keys)
        elif part is not None or not key.optional:
            record[key.name] = _plain(part, key.keys)
    return record


@cache
def _keys_of(cls: Any) -> tuple[Key, ...]:
    declared: Written = cls.__written__
    text = declared.keys
    if text is None:
        text = " ".join(name for name in _annotations(cls) if not name.startswith("_"))
    return _parsed(text)


@cache
def _parsed(text: str) -> tuple[Key, ...]:
    return _parse(iter(re.findall(r"[*]?[\w.?=]+|[{}]", text)))


def _parse(words: Iterator[str]) -> tuple[Key, ...]:
    keys: list[Key] = []
    for word in words:
        if word == "}":
            break
        if word == "{":
            keys[-1] = keys[-1]._replace(keys=_parse(words))
            continue
        name, _, path = word.lstrip("*").partition("=")
        keys.append(
            Key(
                name=name.rstrip("?"),
                path=tuple((path or name.rstrip("?")).split(".")),
                in_place=word.startswith("*"),
                optional=name.endswith("?"),
                keys=None,
            )
        )
    return tuple(keys)


# Schemas


def json_schema_of(cls: type) -> Json:
    """Return the JSON Schema of the dictionary that ``to_dict`` returns for a class."""
    parts: dict[str, Json] = {}
    content = _object(cls, _keys_of(cls), parts)
    return {"$schema": _DIALECT, "title": cls.__name__, **content, "$defs": parts}


def _object(cls: type, keys: tuple[Key, ...], parts: dict[str, Json]) -> Json:
    properties, required = _properties(cls, keys, parts)
    return {
        "description": inspect.cleandoc(cls.__doc__ or "").partition("\n")[0],
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _properties(
    cls: type, keys: tuple[Key, ...], parts: dict[str, Json]
) -> tuple[dict[str, Json], list[str]]:
    """Return the schema of each key, and the names of the required keys."""
    declared: Written = getattr(cls, "__written__", Written(None, None, SCHEMA))
    properties: dict[str, Json] = {}
    required = []
    if declared.kind is not None and keys is _keys_of(cls):
        properties = {"schema": {"type": "integer"}, "kind": {"enum": [declared.kind]}}
        required = ["schema", "kind"]
    for key in keys:
        owner, hint, may_end = cls, None, False
        for index, name in enumerate(key.path):
            if index:
                options = [option for option in _options(hint) if option is not type(None)]
                may_end = may_end or len(options) < len(_options(hint))
                owner = next((option for option in options if _has(option, name)), options[0])
            hint = _hint(owner, name)
        if key.in_place:
            shared: list[str] | None = None
            for option in _options(hint):
                if option is type(None):
                    shared = []
                    continue
                properties_in_place, always_present = _properties(
                    option, key.keys or _keys_of(option), parts
                )
                properties |= properties_in_place
                shared = [name for name in always_present if shared is None or name in shared]
            required += shared or []
            continue
        known = [*_options(hint), *([type(None)] if may_end else [])]
        if key.optional:
            known = [option for option in known if option is not type(None)]
        schema = _union(known, key.keys, parts)
        about = _description(owner, key.path[-1])
        properties[key.name] = {**schema, "description": about} if about else schema
        if not key.optional:
            required.append(key.name)
    return properties, required


def _union(options: Sequence[Any], keys: tuple[Key, ...] | None, parts: dict[str, Json]) -> Json:
    options = list(dict.fromkeys(options))
    if len(options) == 1:
        return _type(options[0], keys, parts)
    if all(option in _SIMPLE for option in options):
        return {"type": [_SIMPLE[option] for option in options]}
    return {"anyOf": [_type(option, keys, parts) for option in options]}


def _type(hint: Any, keys: tuple[Key, ...] | None, parts: dict[str, Json]) -> Json:
    hint = _expanded(hint)
    origin, arguments = get_origin(hint), get_args(hint)
    if hasattr(hint, "__written__"):
        if keys is not None:
            return _object(hint, keys, parts)
        if hint.__name__ not in parts:
            parts[hint.__name__] = {}  # reserves its position, and ends recursion
            parts[hint.__name__] = _object(hint, _keys_of(hint), parts)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    if hint in _SIMPLE:
        return {"type": _SIMPLE[hint]}
    if origin is Annotated:  # an array with this number of dimensions
        schema = _type(arguments[0], keys, parts)
        for _ in range(1, hint.__metadata__[0]):
            schema = {"type": "array", "items": schema}
        return schema
    if origin is Literal:
        return {"enum": list(arguments)}
    import numpy as np

    if origin is np.ndarray:
        kind = get_args(arguments[1])[0]
        element_types = [int, float] if kind is Any else [type(np.zeros(1, kind).tolist()[0])]
        return {"type": "array", "items": _union(element_types, None, parts)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {
            "type": "object",
            "additionalProperties": _union(_options(arguments[1]), keys, parts),
        }
    if isinstance(origin, type) and issubclass(origin, Sequence):
        distinct = list(dict.fromkeys(element for part in arguments for element in _options(part)))
        elements = [element for element in distinct if element is not Ellipsis]
        return {"type": "array", "items": _union(elements, keys, parts)}
    raise TypeError(f"no JSON Schema for {hint!r}")


def _options(hint: Any) -> list[Any]:
    """Return the types that an annotation allows."""
    hint = _expanded(hint)
    if get_origin(hint) in (Union, types.UnionType):
        return [option for part in get_args(hint) for option in _options(part)]
    if isinstance(hint, TypeVar):
        return _options(hint.__bound__)
    if hint is MaybeNaN:
        return [float, type(None)]
    return [type(None) if hint is None else hint]


def _expanded(hint: Any) -> Any:
    """Return the type behind a type alias, such as NDArray."""
    alias = get_origin(hint)
    return alias.__value__[get_args(hint)] if hasattr(alias, "__value__") else hint


def _annotations(cls: type) -> dict[str, str]:
    """Return the annotated fields of a class, with those of its bases first."""
    return {
        name: text
        for owner in reversed(cls.__mro__)
        for name, text in inspect.get_annotations(owner).items()
    }


def _has(cls: Any, name: str) -> bool:
    return hasattr(cls, name) or name in _annotations(cls) or issubclass(cls, Enum)


def _hint(cls: type, name: str) -> Any:
    """Return the type of a field, a property, or a method's return value."""
    import numpy as np

    if get_origin(cls) is np.ndarray and name == "size":
        return int
    for owner in cls.__mro__:
        text = inspect.get_annotations(owner).get(name)
        member = owner.__dict__.get(name)
        if issubclass(cls, Enum) and name in ("name", "value"):
            return str
        if text is None and member is None:
            continue
        if text is None:
            text = _function(member).__annotations__["return"]
        text = getattr(text, "__forward_arg__", text)  # a named tuple stores a ForwardRef
        space = {**_CLASSES, **vars(sys.modules[owner.__module__])}
        annotated = types.SimpleNamespace(__annotations__={name: text})
        return get_type_hints(annotated, space, include_extras=True)[name]
    raise TypeError(f"{cls.__name__} has no {name}")


def _function(member: Any) -> Any:
    if isinstance(member, property):
        return member.fget
    return member.func if isinstance(member, cached_property) else member


def _description(cls: type, name: str) -> str:
    """Return the description of a name from the docstring of a class or its property."""
    for owner in cls.__mro__:
        member = owner.__dict__.get(name)
        text = documented(owner).get(name)
        if text:
            return text
        if name not in inspect.get_annotations(owner) and member is not None:
            return _first(inspect.getdoc(_function(member)) or "")
    return ""


def _first(text: str) -> str:
    return " ".join(text.partition("\n\n")[0].split())


@cache
def documented(described: object) -> dict[str, str]:
    """Return the description of each name in the Parameters section of a docstring."""
    _, _, section = inspect.cleandoc(described.__doc__ or "").partition("Parameters\n----------\n")
    lines_by_name: dict[str, list[str]] = {}
    names: list[str] = []
    for line in section.splitlines():
        if re.match(r"\w+\n?$", line) and line in ("Examples", "Notes", "References", "See Also"):
            break
        if line and not line.startswith(" "):
            names = [name.strip() for name in line.split(",")]
        for name in names if line.startswith(" ") else ():
            lines_by_name.setdefault(name, []).append(line)
    return {name: _first("\n".join(lines)) for name, lines in lines_by_name.items()}
