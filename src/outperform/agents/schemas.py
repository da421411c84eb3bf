"""JSON Schemas of a tool's arguments, from the signature and docstring of a public function."""

from __future__ import annotations

import ast
import builtins
import collections.abc
import inspect
import json
import os
import re
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from outperform._json import Json, documented

_SIMPLE: dict[object, Json] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    complex: {"type": "number"},  # in numpy's type of arrays, which includes numbers
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
}
_ROLE = re.compile(r":\w+:`~?\.?([^`<]+?)`")


def properties_of(function: Callable[..., Any], names: Sequence[str]) -> dict[str, Json]:
    """Return the schema of parameters of a function, with their descriptions and defaults.

    Parameters
    ----------
    function
        Public function.
    names
        Parameters that can be plain JSON values; others raise an error.

    Examples
    --------
    >>> import outperform as op
    >>> properties_of(op.gate, ["require"])["require"]["enum"]
    ['not_worse', 'better']
    """
    plain = inspect.unwrap(function)
    parameters, texts = inspect.signature(plain).parameters, documented(plain)
    properties: dict[str, Json] = {}
    for name in names:
        schema = schema_of(hint_of(plain, name), at_top=True)
        if schema is None:
            raise TypeError(f"{plain.__name__}({name}=) has no plain values")
        default = parameters[name].default
        is_plain = default is None or isinstance(default, (str, int, float))
        known = {} if not is_plain or default is None else {"default": default}
        properties[name] = {**schema, "description": _described(texts.get(name, "")), **known}
    return properties


def _described(text: str) -> str:
    """Return the first sentence of a description and its default, without markup.

    Examples
    --------
    >>> _described("As for :func:`compare`, or ``unit``. Long story. Default: ±0.01.")
    'As for compare, or `unit`. Default: ±0.01.'
    """
    plain = _ROLE.sub(r"\1", text).replace("``", "`")
    first, *others = re.split(r"(?<=[.)]) (?=[A-Z`])", plain)
    return " ".join([first, *(sentence for sentence in others if sentence.startswith("Default"))])


class _Other:
    """Stands for a type whose values cannot be written as JSON."""


def hint_of(function: Callable[..., Any], name: str) -> Any:
    """Return the annotation of a parameter, resolved.

    Some aliases are texts, because they name optional libraries or classes of other modules. What
    such a text allows besides plain values is not needed here, except for paths, which must be
    noticed even if the module that uses the alias cannot resolve their type.
    """
    return _resolved(function.__annotations__[name], vars(sys.modules[function.__module__]))


def _resolved(text: str, space: Mapping[str, Any]) -> Any:
    def value(node: ast.expr) -> Any:
        match node:
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return Union[value(left), value(right)]  # noqa: UP007
            case ast.Constant(value=str() as inner):
                return _resolved(inner, space)
            case ast.Constant(value=constant):
                return constant
            case ast.Name(id="PathLike") | ast.Attribute(attr="PathLike"):
                return os.PathLike
            case ast.Name(id=name):
                known = getattr(builtins, name, getattr(collections.abc, name, _Other))
                entry = space.get(name, known)
                return _resolved(entry, space) if isinstance(entry, str) else entry
            case ast.Attribute(value=owner, attr=name):
                return getattr(value(owner), name, _Other)
            case ast.Subscript(value=base, slice=part):
                origin = value(base)
                parts = part.elts if isinstance(part, ast.Tuple) else [part]
                if origin is _Other:
                    return _Other
                return origin[tuple(map(value, parts)) if len(parts) > 1 else value(parts[0])]
        return _Other

    return value(ast.parse(text, mode="eval").body)


def schema_of(hint: Any, *, at_top: bool = False) -> Json | None:
    """Return the schema of the plain values that an annotation allows; None if there are none.

    Parameters
    ----------
    hint
        Annotation. A text that can be a path is left out: only declared arguments are paths.
    at_top
        Whether it is the annotation of an argument; null is then the same as not passed.

    Examples
    --------
    >>> schema_of(str | int)
    {'anyOf': [{'type': 'string'}, {'type': 'integer'}]}
    >>> schema_of(object) is None
    True
    """
    options = [option for option in _options(hint) if not (at_top and option is type(None))]
    if any(
        getattr(get_origin(option) or option, "__name__", "") == "PathLike" for option in options
    ):
        options = [option for option in options if option is not str]
    schemas: list[Json] = []
    for option in options:
        schema = _of_type(option)
        if schema is not None and schema not in schemas:
            schemas.append(schema)
    if {"type": "boolean"} in schemas and {"type": "integer"} in schemas:
        schemas.sort(key=lambda schema: schema == {"type": "integer"})
    if not schemas or schemas == [_SIMPLE[type(None)]]:
        return None
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _options(hint: Any) -> list[Any]:
    if isinstance(hint, str):
        return []
    if get_origin(hint) in (Union, types.UnionType):
        return [option for part in get_args(hint) for option in _options(part)]
    return [type(None) if hint is None else hint]


def _of_type(hint: Any) -> Json | None:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Annotated, NotRequired, Required):
        return schema_of(arguments[0])
    if hint in _SIMPLE:
        return dict(_SIMPLE[hint])
    if origin is Literal:
        return {"enum": list(arguments)}
    if is_typeddict(hint):
        return _of_fields(hint)
    if origin is tuple and Ellipsis not in arguments:
        parts = [schema_of(argument) or {} for argument in arguments]
        return {
            "type": "array",
            "prefixItems": parts,
            "minItems": len(parts),
            "maxItems": len(parts),
        }
    if isinstance(origin, type) and issubclass(origin, Mapping) and arguments[0] is str:
        values = {} if arguments[1] is object else schema_of(arguments[1])
        return None if values is None else {"type": "object", "additionalProperties": values}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        items = schema_of(arguments[0])
        return None if items is None else {"type": "array", "items": items}
    return None


def _of_fields(hint: Any) -> Json:
    hints = get_type_hints(hint, include_extras=True)
    # NotRequired in an annotation that is a text is not yet in __required_keys__.
    required = [
        name
        for name, part in hints.items()
        if get_origin(part) is not NotRequired and name in hint.__required_keys__
    ]
    return {
        "type": "object",
        "properties": {name: schema_of(part) or {} for name, part in hints.items()},
        "required": required,
        "additionalProperties": False,
    }


_WORDS = {
    "string": "text",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "object": "an object",
    "array": "a list",
}


def in_words(schema: Json) -> str:
    """Return what a schema allows, for messages.

    Parameters
    ----------
    schema
        Schema of an argument.

    Examples
    --------
    >>> in_words({"anyOf": [{"type": "number"}, {"type": "array", "items": {"type": "string"}}]})
    'a number or a list of text'
    """
    if "enum" in schema:
        return " or ".join(map(json.dumps, schema["enum"]))
    if "anyOf" in schema:
        words = [in_words(part) for part in schema["anyOf"] if part != _SIMPLE[type(None)]]
        return " or ".join(dict.fromkeys(words))
    word = _WORDS[schema["type"]]
    if "prefixItems" in schema:
        return f"{word} [{', '.join(in_words(part) for part in schema['prefixItems'])}]"
    if "items" in schema:
        return f"{word} of {in_words(schema['items'])}"
    if "properties" in schema:
        return f"{word} with {', '.join(schema['properties'])}"
    return word


def any_of(schemas: Mapping[str, Json]) -> Json:
    """Return one schema for the answers of several kinds, without descriptions.

    Parameters
    ----------
    schemas
        Schemas of results by kind.
    """
    parts: Json = {}
    options = []
    for kind, schema in schemas.items():
        content = _without_texts(schema, kind)
        parts |= {f"{kind}.{name}": part for name, part in content.pop("$defs", {}).items()}
        options.append(
            {key: part for key, part in content.items() if key not in ("$schema", "title")}
        )
    known = {"$defs": parts} if parts else {}
    if len(options) == 1:
        return {**options[0], **known}
    return {"type": "object", "anyOf": options, **known}


def _without_texts(part: Any, kind: str) -> Any:
    if isinstance(part, list):
        return [_without_texts(element, kind) for element in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return {"$ref": part["$ref"].replace("#/$defs/", f"#/$defs/{kind}.")}
    return {
        key: (
            {name: _without_texts(value, kind) for name, value in element.items()}
            if key in ("properties", "$defs")
            else _without_texts(element, kind)
        )
        for key, element in part.items()
        if key != "description"
    }
