"""What the stand-in of docker knows, and how it refuses."""

import json
import os
import sys

# What only some commands need is imported there: tests call this hundreds of times.
STATE = os.environ["FAKE_DOCKER"]
SOCKET = "unix:///var/run/docker.sock"


def read(*names):
    with open(os.path.join(*names)) as file:
        return file.read()


OPTIONS = json.loads(read(os.path.dirname(os.path.abspath(__file__)), "options.json"))["commands"]


def state(*names):
    return os.path.join(STATE, *names)


def has(*names):
    return os.path.exists(state(*names))


def digest(text):
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()


def fail(words, code=1):
    sys.stderr.write(words + "\n")
    sys.exit(code)


def parse(command, words):
    """Options before the first word that is none, as docker's own `run` reads them; then the rest."""
    known = OPTIONS[command]
    shorts = {option["short"]: name for name, option in known.items() if "short" in option}
    found, rest = {}, list(words)
    while rest and rest[0].startswith("-"):
        name, equals, value = rest.pop(0).partition("=")
        name = shorts.get(name, name)
        if name not in known:
            what = f"unknown flag: {name}" if name.startswith("--") else f"unknown shorthand flag: {name}"
            fail(f"{what}\n\nUsage:  docker {command}\n\nRun 'docker {command} --help' for more information", 125)
        if not known[name]["takesValue"]:
            value = "true"
        elif not equals:
            if not rest:
                fail(f"flag needs an argument: {name}", 125)
            value = rest.pop(0)
        found.setdefault(name, []).append(value)
    return found, rest


def there(name, what="container"):
    if not has("containers", name, "spec.json"):
        where = "Error" if what == "object" else "Error response from daemon"
        fail(f"{where}: No such {what}: {name}")
    return json.loads(read(state("containers", name, "spec.json")))


def number(name, file):
    try:
        return int(read(state("containers", name, file)))
    except (FileNotFoundError, ValueError):
        return None


def status(name):
    if number(name, "exit") is not None:
        return "exited"
    return "created" if number(name, "pid") is None else "running"


def image(name, where="images"):
    for file in sorted(os.listdir(state(where))):
        found = json.loads(read(state(where, file)))
        if name == found["id"] or name in found["names"] or f"{name}:latest" in found["names"]:
            return file, found
    return None, None


def write(path, text):
    with open(path + ".tmp", "w") as file:
        file.write(text)
    os.rename(path + ".tmp", path)
