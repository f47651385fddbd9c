"""Prints the options of the `docker` command line of this machine as JSON, from its own help.

    python3 scripts/docker-options.py > test/fakes/docker/options.json
"""

import json
import re
import subprocess

COMMANDS = ["run", "ps", "inspect", "image inspect", "logs", "wait", "kill", "rm", "pull", "commit", "info"]
# "  -d, --detach     text" takes no value, "      --name string   text" does.
OPTION = re.compile(r"^\s{2,6}(?:-(\w), )?\s*--([a-z0-9-]+)(?: ([a-z][\w-]*))?(?:\s{2,}|$)")


def told(words):
    return subprocess.run(["docker", *words], check=True, capture_output=True, text=True).stdout


def options_of(command):
    found = {}
    for line in told([*command.split(), "--help"]).splitlines():
        match = OPTION.match(line)
        if match:
            short, name, kind = match.groups()
            found[f"--{name}"] = {"takesValue": kind is not None, **({"short": f"-{short}"} if short else {})}
    return found


version = re.search(r"version ([\d.]+)", told(["--version"])).group(1)
print(json.dumps({"source": f"docker {version} --help", "commands": {c: options_of(c) for c in COMMANDS}}, indent=1))
