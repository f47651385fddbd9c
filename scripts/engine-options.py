"""Extracts the command-line options of the engines that Spotter feeds, from their own sources.

    python3 scripts/engine-options.py slime SLIME.git COMMIT MEGATRON.git COMMIT SGLANG.whl > slime.json
    python3 scripts/engine-options.py vllm VLLM.whl > vllm.json

Reads git objects and wheels and runs nothing of theirs. Each option has a name without its dashes and a kind:
`flag` takes no value, `switch` is also there as --no-NAME, `value` takes one, `values` several.
"""

import ast
import json
import re
import subprocess
import sys
import zipfile
from typing import Callable, Dict, List, Optional

Options = Dict[str, Dict]


def git_reader(folder: str, commit: str) -> Callable[[str], str]:
    def read(path: str) -> str:
        command = ["git", "-C", folder, "show", f"{commit}:{path}"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    return read


def constant(node: Optional[ast.AST]) -> object:
    try:
        return ast.literal_eval(node) if node is not None else None
    except (ValueError, TypeError):
        return None


def kind_of(call: ast.Call) -> Dict:
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    action = ast.unparse(given["action"]) if "action" in given else ""
    option: Dict = {"kind": "value"}
    if "BooleanOptionalAction" in action:
        option["kind"] = "switch"
    elif "store_true" in action or "store_false" in action or "store_const" in action:
        option["kind"] = "flag"
    elif "nargs" in given:
        option["kind"] = "values"
    kind = ast.unparse(given["type"]) if "type" in given else ""
    if kind in ("int", "float", "str"):
        option["type"] = kind
    choices = constant(given.get("choices"))
    if isinstance(choices, (list, tuple)):
        option["choices"] = list(choices)
    return option


def added_arguments(source: str, functions: tuple = ("add_argument", "reset_arg")) -> Options:
    """Options of every call of `add_argument` with a constant name, and of functions like it."""
    found: Options = {}
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name not in functions:
            continue
        for argument in node.args:
            text = constant(argument)
            if isinstance(text, str) and text.startswith("--"):
                found[text[2:]] = kind_of(node)
    return found


def dataclass_fields(source: str, names: List[str]) -> Options:
    """Options that are made of the fields of a dataclass: `max_len: int = 3` is `--max-len`."""
    found: Options = {}
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ClassDef) or node.name not in names:
            continue
        for field in node.body:
            if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
                continue
            name = field.target.id.replace("_", "-")
            annotation = ast.unparse(field.annotation)
            text = ast.unparse(field.value) if field.value is not None else ""
            renamed = re.search(r"'arg_names': (\[[^\]]*\])", text)
            if annotation.startswith(("Literal[True", "Optional[bool]")):
                annotation = "bool"
            if renamed:
                for own in ast.literal_eval(renamed.group(1)):
                    found[own.lstrip("-")] = {"kind": "flag" if annotation == "bool" else "value"}
            elif annotation == "bool" and (text == "True" or text.startswith("field(default=True")):
                found[f"no-{name}"] = {"kind": "flag"}
                found[f"disable-{name}"] = {"kind": "flag"}
            elif annotation == "bool":
                found[name] = {"kind": "flag"}
            else:
                found[name] = {"kind": "values" if annotation.startswith(("list", "List")) else "value"}
    return found


def megatron(read: Callable[[str], str]) -> Options:
    source = read("megatron/training/arguments.py")
    classes = re.findall(r"ArgumentGroupFactory\(\s*(\w+)", source)
    found: Options = {}
    files = [
        *(f"megatron/training/{name}_config.py" for name in ("common", "resilience", "training")),
        "megatron/core/transformer/transformer_config.py",
        "megatron/core/model_parallel_config.py",
    ]
    # A class of options also has the fields of the one that it extends.
    wanted = [*classes, "ModelParallelConfig", "TransformerConfig"]
    for file in files:
        found.update(dataclass_fields(read(file), wanted))
    found.update(added_arguments(source))
    return found


# slime/backends/sglang_utils/arguments.py leaves these to itself.
SGLANG_SKIPPED = "model-path config trust-remote-code random-seed enable-memory-saver tp-size port nnodes node-rank \
dist-init-addr gpu-id-step base-gpu-id nccl-port skip-server-warmup enable-return-routed-experts".split()


def slime(arguments: List[str]) -> Dict:
    slime_git, commit, megatron_git, megatron_commit, wheel = arguments
    read = git_reader(slime_git, commit)
    options = added_arguments(read("slime/utils/arguments.py"))
    options.update(added_arguments(read("slime/backends/sglang_utils/arguments.py")))
    with zipfile.ZipFile(wheel) as archive:
        served = added_arguments(archive.read("sglang/srt/server_args.py").decode())
        served.update(dataclass_fields(archive.read("sglang/srt/server_args.py").decode(), ["ServerArgs"]))
    engine = {f"sglang-{name}": kind for name, kind in served.items() if name not in SGLANG_SKIPPED}
    trainer = megatron(git_reader(megatron_git, megatron_commit))
    # What slime's own scripts say to it, which its patches of Megatron take.
    for path in git_files(slime_git, commit, "scripts/models"):
        for name in re.findall(r"^ *--([\w-]+)", read(path), re.MULTILINE):
            trainer.setdefault(name, {"kind": "flag" if is_flag(read(path), name) else "value"})
    return {
        "sources": [
            f"THUDM/slime {commit}",
            f"NVIDIA/Megatron-LM {megatron_commit}",
            wheel.rsplit("/", 1)[-1],
        ],
        "options": dict(sorted({**trainer, **engine, **options}.items())),
    }


def git_files(folder: str, commit: str, under: str) -> List[str]:
    command = ["git", "-C", folder, "ls-tree", "-r", "--name-only", commit, under]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def is_flag(script: str, name: str) -> bool:
    return re.search(rf"--{name} *$", script, re.MULTILINE) is not None


def vllm(arguments: List[str]) -> Dict:
    (wheel,) = arguments
    with zipfile.ZipFile(wheel) as archive:
        engine = archive.read("vllm/engine/arg_utils.py").decode()
        server = archive.read("vllm/entrypoints/common/cli_args.py").decode()
        tools = archive.read("vllm/tool_parsers/__init__.py").decode()
        reasoning = archive.read("vllm/reasoning/__init__.py").decode()
    options = added_arguments(engine)
    # Their kinds come from the fields of configurations: what is known of the engine's own dataclass.
    fields = dataclass_fields(engine, ["EngineArgs", "AsyncEngineArgs"])
    for name, option in options.items():
        if name in fields and option == {"kind": "value"}:
            option.update(fields[name])
        elif f"no-{name}" in fields or is_boolean(engine, name):
            option["kind"] = "switch"
    served = dataclass_fields(server, ["BaseFrontendArgs", "FrontendArgs"])
    for name in list(served):
        if name.startswith("no-") and f"disable-{name[3:]}" in served:
            del served[name], served[f"disable-{name[3:]}"]
            served[name[3:]] = {"kind": "switch"}
    options.update(served)
    options.update(added_arguments(server))
    for option in options.values():
        # vLLM's booleans are all there as --no-NAME too.
        if option["kind"] == "flag":
            option["kind"] = "switch"
    # Parsers are registered by name, and an unknown one ends the server.
    named = {"tool-call-parser": tools, "reasoning-parser": reasoning}
    for name, source in named.items():
        options[name] = {"kind": "value", "choices": re.findall(r'^    "(\w+)": \(', source, re.MULTILINE)}
    return {"sources": [wheel.rsplit("/", 1)[-1]], "options": dict(sorted(options.items()))}


def is_boolean(source: str, name: str) -> bool:
    field = re.search(rf"^    {name.replace('-', '_')}: bool\b", source, re.MULTILINE)
    return field is not None


if __name__ == "__main__":
    which = {"slime": slime, "vllm": vllm}.get(sys.argv[1] if len(sys.argv) > 1 else "")
    if which is None:
        sys.exit(__doc__)
    print(json.dumps(which(sys.argv[2:]), indent=1))
