"""Write the JSON Schemas of results, ``src/outperform/results/json_schemas``, from their types."""

from __future__ import annotations

import json
import types
from pathlib import Path
from typing import (
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from outperform import __version__
from outperform.results.feature_schemas import FACTS
from outperform.results.schemas import Kind

FOLDER = Path(__file__).parents[1] / "src" / "outperform" / "results" / "json_schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}

Schema = dict[str, object]


def schema_of(kind: Kind) -> Schema:
    """Return the JSON Schema of one kind of result."""
    parts: dict[str, Schema] = {}
    whole = _record(FACTS[kind], parts)
    return {"$schema": DIALECT, "title": FACTS[kind].__name__, **whole, "$defs": parts}


def _record(facts: type, parts: dict[str, Schema]) -> Schema:
    properties, required = {}, []
    for name, hint in get_type_hints(facts, include_extras=True).items():
        optional = get_origin(hint) is NotRequired
        properties[name] = _type(get_args(hint)[0] if optional else hint, parts)
        # Of annotations that are text the class itself knows only whether it is total.
        if not optional and name in facts.__required_keys__:
            required.append(name)
    return {
        "description": (facts.__doc__ or "").strip(),
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _type(hint: object, parts: dict[str, Schema]) -> Schema:
    origin, arguments = get_origin(hint), get_args(hint)
    if is_typeddict(hint):
        if hint.__name__ not in parts:
            parts[hint.__name__] = {}  # holds the place
            parts[hint.__name__] = _record(hint, parts)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    if hint in SIMPLE:
        return {"type": SIMPLE[hint]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is list:
        return {"type": "array", "items": _type(arguments[0], parts)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _type(arguments[1], parts)}
    if origin in (Union, types.UnionType):
        if all(one in SIMPLE for one in arguments):
            return {"type": [SIMPLE[one] for one in arguments]}
        return {"anyOf": [_type(one, parts) for one in arguments]}
    raise TypeError(f"no JSON Schema for {hint!r}")


def text_of(kind: Kind) -> str:
    """Return the file of one kind."""
    return json.dumps(schema_of(kind), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for kind in FACTS:
        (FOLDER / f"{kind}.json").write_text(text_of(kind), encoding="utf-8")
    print(f"wrote {len(FACTS)} schemas of outperform {__version__}")
