"""Stands in for `docker`: takes the options that docker takes (options.json) and no others, answers in its words, and
runs what a container would run as a process of this machine. State is in $FAKE_DOCKER:

    images/*.json        {"id", "names", "env", "path"}: what is on this machine; `path` comes first on its PATH
    remote/*.json        the same, of a registry
    containers/NAME/     spec.json, pid, exit, log (JSON lines), oom; volume/ is its work folder
    calls                a line of JSON for each call
    down, denied, no-gpu files that break it in the ways their names say
"""

import json
import os
import sys

from containers import kill_group, run, show, waited
from state import digest, fail, has, image, number, parse, read, state, status, there, write


def ps(words):
    import re

    options, _ = parse("ps", words)
    for name in sorted(os.listdir(state("containers"))):
        if not has("containers", name, "spec.json"):
            continue
        spec = there(name)
        wanted = [value.partition("=")[2] for value in options.get("--filter", [])]
        labels = [f"{key}={value}" for key, value in spec["labels"].items()]
        if all(label in labels or label in spec["labels"] for label in wanted):
            if "--all" in options or status(spec["name"]) == "running":
                text = options["--format"][0].replace("{{.Names}}", spec["name"])
                print(re.sub(r'{{\.Label "([\w.]+)"}}', lambda m: spec["labels"].get(m.group(1), ""), text))
    return 0


def inspect(words):
    options, (name,) = parse("inspect", words)
    there(name, "object")
    if options["--format"] != ["{{json .State}}"]:
        fail(f"the fake knows no format {options['--format']}")
    code = number(name, "exit")
    oom = has("containers", name, "oom")
    seen = {"Status": status(name), "Running": status(name) == "running", "OOMKilled": oom, "ExitCode": code or 0}
    print(json.dumps({**seen, "Pid": number(name, "pid") or 0, "Error": ""}))
    return 0


def image_inspect(words):
    options, (name,) = parse("image inspect", words)
    found = image(name)[1]
    if found is None:
        fail(f"Error response from daemon: No such image: {name}")
    assert options["--format"] == ["{{.Id}}"]
    print(found["id"])
    return 0


def logs(words):
    options, (name,) = parse("logs", words)
    there(name)
    show(name, int(options["--tail"][0]))
    return 0


def wait(words):
    _, (name,) = parse("wait", words)
    there(name)
    print(waited(name))
    return 0


def kill(words):
    import signal

    options, (name,) = parse("kill", words)
    there(name)
    if status(name) != "running":
        fail(f"Error response from daemon: cannot kill container: {name}: container {name} is not running")
    number_of = getattr(signal, options.get("--signal", ["SIGKILL"])[0])
    try:
        os.kill(number(name, "pid"), number_of)
    except ProcessLookupError:
        fail(f"Error response from daemon: cannot kill container: {name}: container {name} is not running")
    print(name)
    return 0


def rm(words):
    options, (name,) = parse("rm", words)
    if not has("containers", name, "spec.json") and "--force" in options:
        sys.stderr.write(f"Error response from daemon: No such container: {name}\n")
        return 0
    there(name)
    if status(name) == "running":
        if "--force" not in options:
            fail(f'Error response from daemon: cannot remove container "{name}": container is running: stop it before removing or force remove')
        kill_group(number(name, "pid"))
        waited(name)
    import shutil

    shutil.rmtree(state("containers", name))
    print(name)
    return 0


def pull(words):
    _, (name,) = parse("pull", words)
    file, found = image(name, "remote")
    if found is None:
        fail(f"Error response from daemon: pull access denied for {name}, repository does not exist or may require 'docker login'")
    write(state("images", file), json.dumps(found))
    print(name)
    return 0


def commit(words):
    options, (name, made) = parse("commit", words)
    spec = there(name)
    base = image(spec["image"])[1]
    changes = {"ENV": {}, "LABEL": spec["labels"]}
    for change in options.get("--change", []):
        instruction, _, rest = change.partition(" ")
        key, _, value = rest.partition("=")
        changes[instruction][key] = value.strip('"')
    new = {**base, "id": f"sha256:{digest(made)}", "names": [made]}
    # An image keeps the labels of its container.
    new["env"], new["labels"] = {**base["env"], **changes["ENV"]}, changes["LABEL"]
    write(state("images", f"{digest(made)}.json"), json.dumps(new))
    print(new["id"])
    return 0


def info(words):
    parse("info", words)
    print(read(state("info.json")))
    return 0


COMMANDS = {"run": run, "ps": ps, "inspect": inspect, "image inspect": image_inspect, "logs": logs, "wait": wait}
COMMANDS.update({"kill": kill, "rm": rm, "pull": pull, "commit": commit, "info": info})


def main(words):
    with open(state("calls"), "a") as calls:
        calls.write(json.dumps(words) + "\n")
    length = 2 if words[0] == "image" else 1
    command = " ".join(words[:length])
    if command not in COMMANDS:
        fail(f"docker: unknown command: docker {command}")
    if has("down"):
        fail(f"Cannot connect to the Docker daemon at {SOCKET}. Is the docker daemon running?")
    if has("denied"):
        fail(f"permission denied while trying to connect to the Docker daemon socket at {SOCKET}")
    return COMMANDS[command](words[length:])


sys.exit(main(sys.argv[1:]))
