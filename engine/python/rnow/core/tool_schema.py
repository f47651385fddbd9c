"""Type hints as JSON Schema, and what a model wrote as values of these types."""

import json
import sys
import types
import typing

# `int | None` is a type of its own from Python 3.10 on.
UNIONS = (typing.Union, getattr(types, "UnionType", typing.Union))
PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def hints_of(function):
    """The type hints of a function, also those written as texts."""
    try:
        return typing.get_type_hints(function)
    except Exception as error:
        version = ".".join(map(str, sys.version_info[:2]))
        raise TypeError(
            f"the type hints of {function.__name__} cannot be read by Python {version}: {error}"
        ) from error


def schema_of(hint):
    """JSON Schema of a type; a type that JSON does not have is a text."""
    if hint in PLAIN:
        return {"type": PLAIN[hint]}
    if hint is typing.Any:
        return {}
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in UNIONS:
        return _union([schema_of(part) for part in parts])
    if origin is typing.Literal:
        return _literal(parts)
    if (origin or hint) in (list, set, frozenset):
        return {"type": "array", "items": schema_of(parts[0])} if parts else {"type": "array"}
    if (origin or hint) is tuple:
        return {"type": "array"}
    if (origin or hint) is dict:
        return {"type": "object"}
    # Annotated[T, ...] is T with remarks.
    if hasattr(hint, "__metadata__"):
        return schema_of(hint.__origin__)
    return {"type": "string"}


def _union(schemas):
    if all(set(schema) == {"type"} for schema in schemas):
        return {"type": [schema["type"] for schema in schemas]}
    return {"anyOf": schemas}


def _literal(values):
    kinds = sorted({PLAIN.get(type(value), "string") for value in values})
    return {"type": kinds[0] if len(kinds) == 1 else kinds, "enum": list(values)}


def arguments_of(parameters, written):
    """What a model wrote, with texts read as the types they stand for. Raises ValueError naming every fault."""
    if not isinstance(written, dict):
        raise ValueError("the arguments must be an object with " + (", ".join(parameters["properties"]) or "nothing"))
    properties = parameters["properties"]
    faults = [f"{name} is missing" for name in parameters["required"] if name not in written]
    faults += [f"there is no parameter {name}" for name in written if name not in properties]
    values = {}
    for name in (name for name in written if name in properties):
        try:
            values[name] = _fitted(properties[name], written[name])
        except ValueError as error:
            faults.append(f"{name} {error}")
    if faults:
        raise ValueError("; ".join(faults))
    return values


def _fitted(schema, value):
    kinds = schema.get("type")
    if kinds is not None:
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if not any(_is(kind, value) for kind in kinds):
            value = _converted(kinds, value)
        if kinds == ["integer"] and isinstance(value, float):
            value = int(value)
    if "enum" in schema and value not in schema["enum"]:
        raise ValueError("must be one of " + ", ".join(json.dumps(each) for each in schema["enum"]))
    return value


def _is(kind, value):
    if kind in ("integer", "number") and isinstance(value, bool):
        return False
    if kind == "integer":
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if kind == "number":
        return isinstance(value, (int, float))
    known = {"string": str, "boolean": bool, "null": type(None), "array": list, "object": dict}
    return isinstance(value, known[kind])


def _converted(kinds, value):
    """Models often write numbers and truths as texts, and texts as anything."""
    for kind in kinds:
        if isinstance(value, str) and kind != "string":
            if kind == "boolean" and value.lower() in ("true", "yes", "false", "no"):
                return value.lower() in ("true", "yes")
            try:
                read = json.loads(value)
            except ValueError:
                continue
            if _is(kind, read):
                return read
        elif kind == "string" and not isinstance(value, (dict, list)) and value is not None:
            return json.dumps(value)
    raise ValueError("must be of type " + " or ".join(kinds))
