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
import time

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


def mounts(values, name):
    """Where each target really lies. The value is a line of CSV."""
    import csv

    places = {}
    for value in values:
        told = dict(field.partition("=")[::2] for field in next(csv.reader([value])))
        unknown = set(told) - {"type", "source", "target", "readonly"}
        if unknown:
            fail(f'docker: invalid argument "{value}" for "--mount" flag: unexpected key {unknown.pop()!r}', 125)
        if told["type"] == "bind" and not os.path.exists(told["source"]):
            words = f"invalid mount config for type \"bind\": bind source path does not exist: {told['source']}"
            fail(f"docker: Error response from daemon: {words}", 125)
        if told["type"] == "volume":
            os.mkdir(state("containers", name, "volume"))
        places[told["target"]] = told.get("source") or state("containers", name, "volume")
    return places


def run(words):
    options, rest = parse("run", words)
    one = {key: values[-1] for key, values in options.items()}
    name = one.get("--name") or f"unnamed-{time.time_ns()}"
    _, base = image(rest[0])
    if base is None and one.get("--pull") == "never":
        fail(f"docker: Error response from daemon: No such image: {rest[0]}\n\nRun 'docker run --help' for more information", 125)
    if base is None:
        fail(f"Unable to find image '{rest[0]}' locally\ndocker: Error response from daemon: pull access denied", 125)
    try:
        os.mkdir(state("containers", name))
    except FileExistsError:
        words = f'Conflict. The container name "/{name}" is already in use by container "0". You have to remove (or rename) it.'
        fail(f"docker: Error response from daemon: {words}", 125)
    places = mounts(options.get("--mount", []), name)
    env = {"PATH": os.environ["PATH"], **base["env"]}
    if base.get("path"):
        env["PATH"] = f"{base['path']}:{os.environ['PATH']}"
    for file in options.get("--env-file", []):
        if os.stat(file).st_mode & 0o077:
            fail(f"the fake: others can read {file}", 125)
        env.update(line.partition("=")[::2] for line in read(file).splitlines())
    for value in options.get("--env", []):
        key, equals, text = value.partition("=")
        env[key] = text if equals else os.environ[key]
    for target, source in places.items():
        env = {key: value.replace(target, source) for key, value in env.items()}
    argv = [*([one["--entrypoint"]] if "--entrypoint" in one else []), *rest[1:]]
    labels = {**base.get("labels", {}), **dict(label.partition("=")[::2] for label in options.get("--label", []))}
    spec = {"name": name, "image": base["id"], "labels": labels, "env": base["env"], "argv": argv, "words": words}
    write(state("containers", name, "spec.json"), json.dumps(spec))
    # From here on it exists, whether or not it starts.
    if "--gpus" in one and has("no-gpu"):
        fail('docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]]', 125)
    cwd = places.get(one.get("--workdir", ""), state("containers", name))
    if not any(os.path.exists(os.path.join(path, argv[0])) for path in env["PATH"].split(":")):
        write(state("containers", name, "exit"), "127")
        fail(f'docker: Error response from daemon: exec: "{argv[0]}": executable file not found in $PATH', 127)
    supervise(name, argv, env, cwd)
    if "--detach" in one:
        print(digest(name))
        return 0
    code = waited(name)
    show(name, 10**6)
    return code


def supervise(name, argv, env, cwd):
    """Leaves a process behind that keeps the log and the exit code."""
    import select

    if os.fork() > 0:
        while number(name, "pid") is None and number(name, "exit") is None:
            time.sleep(0.002)
        return
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    streams = {"out": os.pipe(), "err": os.pipe()}
    child = os.fork()
    if child == 0:
        os.setsid()
        os.dup2(streams["out"][1], 1)
        os.dup2(streams["err"][1], 2)
        for pair in streams.values():
            os.close(pair[0]), os.close(pair[1])
        os.chdir(cwd)
        os.execvpe(argv[0], argv, env)
    for pair in streams.values():
        os.close(pair[1])
    write(state("containers", name, "pid"), str(child))
    names = {pair[0]: stream for stream, pair in streams.items()}
    code = None
    with open(state("containers", name, "log"), "a", buffering=1) as log:
        while names:
            if code is None:
                ended, result = os.waitpid(child, os.WNOHANG)
                if ended:
                    code = code_of(result)
                    # A container is gone with its first process.
                    kill_group(child)
            for descriptor in select.select(list(names), [], [], 0.02)[0]:
                chunk = os.read(descriptor, 65536)
                if chunk:
                    log.write(json.dumps([names[descriptor], chunk.decode("utf-8", "replace")]) + "\n")
                else:
                    del names[descriptor]
    if code is None:
        code = code_of(os.waitpid(child, 0)[1])
    if has("containers", name):
        write(state("containers", name, "exit"), str(code))
    os._exit(0)


def code_of(result):
    """As docker tells it: 128 and the signal for one that a signal ended."""
    return 128 + os.WTERMSIG(result) if os.WIFSIGNALED(result) else os.WEXITSTATUS(result)


def kill_group(pid):
    try:
        os.killpg(pid, 9)
    except ProcessLookupError:
        pass


def waited(name):
    while True:
        code = number(name, "exit")
        if code is not None:
            return code
        if not has("containers", name):
            return 137
        time.sleep(0.01)


def show(name, lines):
    path = state("containers", name, "log")
    chunks = [json.loads(line) for line in read(path).splitlines()] if os.path.exists(path) else []
    skip = sum(text.count("\n") for _, text in chunks) - lines
    for stream, text in chunks:
        while skip > 0 and "\n" in text:
            text = text.split("\n", 1)[1]
            skip -= 1
        target = sys.stdout if stream == "out" else sys.stderr
        target.write(text)
        target.flush()


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
