"""``python3 -m spotter_agent``: the life of a container, from its job to its exit code."""

import errno
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Dict

from .child import Child
from .client import JobClient
from .cluster import Cluster
from .convert import ConvertWork
from .errors import JobError, Lost, Stale, Stopped
from .log import Log, redactor, secrets_of
from .nodes import Children, Place
from .options import Options, read_options
from .serve import ServeWork
from .train import TrainWork

DONE, FAILED, STALE, LOST = 0, 1, 3, 4
NEEDED = ("SPOTTER_URL", "SPOTTER_JOB_ID", "SPOTTER_JOB_TOKEN", "SPOTTER_WORK_DIR")


def main(env: Dict[str, str]) -> int:
    missing = [name for name in NEEDED if not env.get(name)]
    if missing:
        sys.stderr.write(f"{', '.join(missing)} not set: containers are started by the control plane\n")
        return FAILED
    work_dir = Path(env["SPOTTER_WORK_DIR"])
    try:
        options = read_options(env)
        work_dir.mkdir(parents=True, exist_ok=True)
    except (JobError, OSError) as error:
        sys.stderr.write(f"{coded_of(error).message}\n")
        return FAILED
    place = Place(env)
    if not place.is_main:
        return Child(env, place, options).run()
    client = JobClient(
        env["SPOTTER_URL"],
        env["SPOTTER_JOB_ID"],
        env["SPOTTER_JOB_TOKEN"],
        options.give_up_after_s,
        options.speed,
    )
    log = Log()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: client.cancelled.set())
    try:
        return work(client, log, work_dir, options, place)
    finally:
        client.close()


def work(client: JobClient, log: Log, work_dir: Path, options: Options, place: Place) -> int:
    knows_job = False
    try:
        job = client.get_job()
        knows_job = True
        log.redact_with(redactor(secrets_of(job, client.token)))
        log.ship = client.log
        client.start_heartbeats()
        outcome = run(client, log, work_dir, options, place)
        client.exit(outcome)
        return DONE
    except Stopped:
        return stopped(client)
    except BaseException as error:  # whatever it is, it is told
        return failed(client, log, error, knows_job)


def run(client: JobClient, log: Log, work_dir: Path, options: Options, place: Place) -> str:
    kind = client.job["kind"]
    if "native" not in client.job:
        raise JobError("invalid_input", f"This container runs GPU engines; the {kind} job has no plan for one.")
    if kind == "serve":
        return ServeWork(client, log, work_dir, options).run()
    if kind == "convert":
        return ConvertWork(client, log, work_dir, options).run()
    if kind != "train":
        words = f"This container serves, trains and converts; the job is of kind {kind}."
        raise JobError("invalid_input", words)
    training = TrainWork(client, log, work_dir, options)
    if place.count == 1:
        return training.run()
    children = Children(place.count - 1, client.token, training.node_lost, port=options.nodes_port)
    head = f"{place.main_host}:{options.ray_port}"
    cluster = Cluster(children, head, client.token, work_dir, log.info)
    try:
        outcome = training.run(cluster)
        # Before Ray's head ends, and what has joined it.
        children.done()
        return outcome
    finally:
        cluster.close()
        children.close()


def stopped(client: JobClient) -> int:
    """Asked to end while nothing was under way that could be saved."""
    if client.end is not None:
        return STALE if isinstance(client.end, Stale) else LOST
    try:
        client.exit("cancelled")
        return DONE
    except (JobError, Stopped):
        return LOST


def failed(client: JobClient, log: Log, error: BaseException, knows_job: bool) -> int:
    coded = coded_of(error)
    coded.message = log.hide(coded.message)
    coded.hint = None if coded.hint is None else log.hide(coded.hint)
    log.error(f"{coded.code}: {coded.message}")
    if coded.code == "internal":
        log.error("".join(traceback.format_exception(type(error), error, error.__traceback__)))
    if isinstance(coded, Stale) or isinstance(client.end, Stale):
        return STALE
    if isinstance(coded, Lost) or client.ended.is_set():
        return LOST
    # Without its job a container does not know its attempt and can report nothing: the log has to do.
    if not knows_job:
        return FAILED
    try:
        client.exit("failed", coded.as_failure(log.tail()))
        return FAILED
    except (JobError, Stopped) as report:
        log.error(f"The failure could not be reported: {report}")
        return STALE if isinstance(report, Stale) else LOST


def coded_of(error: BaseException) -> JobError:
    if isinstance(error, JobError):
        return error
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return JobError("disk_full", f"The disk is full: {error}", hint="Take a larger disk, or save less often.")
    return JobError("internal", f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    code = main(dict(os.environ))
    sys.stderr.flush()
    # Threads that wait for a network must not keep an ended container alive.
    os._exit(code)
