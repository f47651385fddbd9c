"""@tool: makes a function something that the model may call."""

import inspect

from rnow.models import ToolArgs

from .tool_schema import hints_of, schema_of

TOOL_REGISTRY = {}


def tool(function=None, *, sandbox=False, timeout=None):
    """Marks a function, sync or async, as a tool: its docstring and type hints are what the model is told.

    A parameter called `args`, or of type ToolArgs, is filled in and not told. timeout: seconds for one call.
    """
    if timeout is not None and not timeout > 0:
        raise ValueError("@tool: timeout must be more than 0 seconds")

    def mark(target):
        target.__rnow_tool__ = {
            "sandbox": bool(sandbox),
            "timeout": timeout,
            **_described(target),
        }
        name = target.__name__
        known = TOOL_REGISTRY.get(name)
        if known is not None and known.__code__ is not target.__code__:
            raise ValueError(f"@tool: two tools are called {name}; rename one of them")
        TOOL_REGISTRY[name] = target
        return target

    return mark if function is None else mark(function)


def _described(target):
    if not inspect.isfunction(target):
        raise TypeError(f"@tool goes above a function, not above {type(target).__name__}")
    name = target.__name__
    description = inspect.getdoc(target)
    if not description:
        raise TypeError(f"@tool {name} needs a docstring: it is what the model reads of the tool")
    hints = hints_of(target)
    properties, required, injected = {}, [], None
    for parameter in inspect.signature(target).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"@tool {name}: {parameter} cannot be filled in by a model; give it a name of its own")
        if parameter.name == "args" or hints.get(parameter.name) is ToolArgs:
            injected = parameter.name
            continue
        if parameter.name not in hints:
            raise TypeError(f"@tool {name}: the parameter {parameter.name} needs a type hint")
        properties[parameter.name] = schema_of(hints[parameter.name])
        if parameter.default is parameter.empty:
            required.append(parameter.name)
    # Unknown parameters are refused when it is called. To say so here as well only makes the prompt longer, and small
    # models stop calling tools whose schema looks unlike those they were trained with.
    parameters = {"type": "object", "properties": properties, "required": required}
    return {"description": description, "parameters": parameters, "injected": injected}


def clear_tool_registry():
    TOOL_REGISTRY.clear()


def is_sandbox_tool(name):
    target = TOOL_REGISTRY.get(name)
    return target is not None and target.__rnow_tool__["sandbox"]
