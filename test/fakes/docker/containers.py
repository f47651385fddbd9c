"""Containers of the stand-in of docker: processes of this machine."""

import json
import os
import sys
import time

from state import digest, fail, has, image, number, parse, read, state, write


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
