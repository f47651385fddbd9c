"""Extracts the architectures that slime's own scripts give to Megatron, as data.

    python3 scripts/megatron-models.py SLIME.git COMMIT > sdk/schema/engines/options/megatron-models.json

Reads `MODEL_ARGS=(...)` of scripts/models/*.sh and runs nothing of theirs but the shell's own expansion of that list.
"""

import json
import re
import subprocess
import sys

# The names on the hub of what each script describes.
NAMES = {
    "qwen2.5-0.5B": ["Qwen/Qwen2.5-0.5B", "Qwen/Qwen2.5-0.5B-Instruct"],
    "qwen2.5-1.5B": ["Qwen/Qwen2.5-1.5B", "Qwen/Qwen2.5-1.5B-Instruct"],
    "qwen2.5-3B": ["Qwen/Qwen2.5-3B", "Qwen/Qwen2.5-3B-Instruct"],
    "qwen2.5-7B": ["Qwen/Qwen2.5-7B", "Qwen/Qwen2.5-7B-Instruct"],
    "qwen2.5-32B": ["Qwen/Qwen2.5-32B", "Qwen/Qwen2.5-32B-Instruct"],
    "qwen3-0.6B": ["Qwen/Qwen3-0.6B", "Qwen/Qwen3-0.6B-Base"],
    "qwen3-1.7B": ["Qwen/Qwen3-1.7B", "Qwen/Qwen3-1.7B-Base"],
    "qwen3-4B": ["Qwen/Qwen3-4B", "Qwen/Qwen3-4B-Base"],
    "qwen3-4B-Instruct-2507": ["Qwen/Qwen3-4B-Instruct-2507", "Qwen/Qwen3-4B-Thinking-2507"],
    "qwen3-8B": ["Qwen/Qwen3-8B", "Qwen/Qwen3-8B-Base"],
    "qwen3-14B": ["Qwen/Qwen3-14B", "Qwen/Qwen3-14B-Base"],
    "qwen3-32B": ["Qwen/Qwen3-32B"],
    "qwen3-30B-A3B": ["Qwen/Qwen3-30B-A3B", "Qwen/Qwen3-30B-A3B-Instruct-2507"],
    "qwen3.5-0.8B": ["Qwen/Qwen3.5-0.8B"],
    "qwen3.5-4B": ["Qwen/Qwen3.5-4B"],
    "qwen3.5-9B": ["Qwen/Qwen3.5-9B"],
    "qwen3.5-27B": ["Qwen/Qwen3.5-27B"],
    "llama3.1-8B-Instruct": ["meta-llama/Llama-3.1-8B-Instruct", "meta-llama/Llama-3.1-8B"],
    "llama3.2-3B-Instruct": ["meta-llama/Llama-3.2-3B-Instruct", "meta-llama/Llama-3.2-3B"],
    "glm4-9B": ["zai-org/GLM-Z1-9B-0414", "zai-org/GLM-4-9B-0414"],
}


def show(folder: str, commit: str, path: str) -> str:
    command = ["git", "-C", folder, "show", f"{commit}:{path}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def model_args(folder: str, commit: str, name: str) -> list:
    text = show(folder, commit, f"scripts/models/{name}.sh")
    # One script may be another with a few changes.
    text = re.sub(
        r'^(\S+=\S+ )?source ".*/([\w.-]+)\.sh"$',
        lambda m: f"{m[1] or ''}\n" + show(folder, commit, f"scripts/models/{m[2]}.sh"),
        text,
        flags=re.M,
    )
    listed = subprocess.run(
        ["bash", "-rc", f'{text}\nprintf "%s\\n" "${{MODEL_ARGS[@]}}"'], check=True, capture_output=True, text=True
    ).stdout
    return listed.strip().split("\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder, commit = sys.argv[1:]
    models = [{"names": names, "argv": model_args(folder, commit, script)} for script, names in NAMES.items()]
    print(json.dumps({"sources": [f"THUDM/slime {commit} scripts/models"], "models": models}, indent=1))
