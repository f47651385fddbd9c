import { createHash } from "node:crypto";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import { noteInLog, tailLines } from "../local-containers/log-file.ts";
import { DockerError, type DockerCli } from "./docker-cli.ts";
import { isUnknown } from "./failures.ts";
import { look, type Seen } from "./inspect.ts";
import { homeLabel, LABEL, labels, overlayName, placeFlags, type Gpus } from "./run-args.ts";

/** Cloning and installing on a slow network takes minutes; a command that asks a question waits for ever. */
const COMMAND_TIMEOUT_MS = 30 * 60_000;
const TAIL_LINES = 20;
const REPOSITORY = "spotter-overlay";
/** Tells the agent inside that these commands have run, see engine/python/spotter_agent/overlay.py. */
const APPLIED = "SPOTTER_IMAGE_OVERLAY";
/** Two streams come in any order: what a command wrote last would not be last. */
const ONE_STREAM = 'exec /bin/sh -ec "$0" 2>&1';
/** An image keeps the labels of the container that it is made of, and gives them to all that are made of it. */
const NOBODYS = `LABEL ${LABEL.home}=""`;

export interface OverlayParams {
  docker: DockerCli;
  home: string;
  gpus: Gpus;
  /** The id of the image to change: its content, whatever its name means tomorrow. */
  baseId: string;
  commands: readonly string[];
  /** Where the commands' output goes. */
  log: string;
  signal: AbortSignal;
}

/** Names a list of commands; the agent computes the same. */
export function overlayHash(commands: readonly string[]): string {
  return createHash("sha256").update(commands.join("\0")).digest("hex");
}

/**
 * The image that commands make of another one, each run once in a container of its own and committed, as a line of
 * a Dockerfile is: what was made before, up to the first command that differs, is used again.
 *
 * @throws SpotterError `invalid_input`: a command failed, or took too long; DockerError
 */
export async function overlayImage(params: OverlayParams): Promise<string> {
  const { docker, baseId, commands, log } = params;
  let image = baseId;
  for (const [index, command] of commands.entries()) {
    const done = commands.slice(0, index + 1);
    const made = `${REPOSITORY}:${createHash("sha256")
      .update([baseId, ...done].join("\0"))
      .digest("hex")
      .slice(0, 32)}`;
    const place = `image overlay ${index + 1} of ${commands.length}`;
    if (await hasImage(docker, made)) noteInLog(log, `${place}, made before: ${command}`);
    else {
      const heading = `${place}: ${command}`;
      noteInLog(log, heading);
      await make(params, { from: image, made, command, index, heading, hash: overlayHash(done) });
    }
    image = made;
  }
  return image;
}

async function make(
  { docker, home, gpus, log, signal }: OverlayParams,
  step: Told & { from: string; made: string; hash: string },
): Promise<void> {
  const { from, made, command, hash } = step;
  const name = overlayName(home);
  // What a daemon that was killed meanwhile left.
  await removeContainer(docker, name);
  const run = [
    ...["run", "--pull", "never", "--name", name, ...labels({ home: homeLabel(home) })],
    ...[...placeFlags(gpus), "--entrypoint", "/bin/sh", from, "-c", ONE_STREAM, command],
  ];
  try {
    await docker.call(run, { signal, into: log, timeoutMs: COMMAND_TIMEOUT_MS });
    const changes = [`ENV ${APPLIED}=${hash}`, NOBODYS].flatMap((change) => ["--change", change]);
    await docker.call(["commit", ...changes, name, made], { signal });
  } catch (error) {
    // Asked before the container is removed. Where Docker cannot say, it was not the command.
    const seen = await look(docker, name).catch(() => undefined);
    throw commandFailed(error, step, log, seen);
  } finally {
    await removeContainer(docker, name);
  }
}

interface Told {
  command: string;
  index: number;
  /** The line of the log after which its own begin. */
  heading: string;
}

/** The command that failed, in the words of the agent, which runs them where there is no image to change. */
function commandFailed(
  error: unknown,
  { command, index, heading }: Told,
  log: string,
  seen: Seen | undefined,
): unknown {
  const where = `imageOverlay[${index}]`;
  if (SpotterError.is(error) && error.code === "timeout") {
    const minutes = COMMAND_TIMEOUT_MS / 60_000;
    return new SpotterError(
      "invalid_input",
      `${where}: the command took longer than ${minutes} minutes: ${command}`,
      { where, hint: "Does it wait for an answer? Add -y, or make it smaller.", cause: error },
    );
  }
  const wroteToLog = error instanceof DockerError && error.words === "";
  if (!wroteToLog) return error;
  const said = tailLines(log, TAIL_LINES);
  // A command of several lines is a heading of several.
  const lines = said.slice(said.lastIndexOf(heading.split("\n").at(-1) ?? "") + 1);
  // Docker's own words went into the log like those of the command, which may end with 125, too.
  const isOfCommand = seen?.isUnborn === false && !seen.isRunning && seen.exitCode === error.exitCode;
  if (!isOfCommand) return new DockerError("run", error.exitCode, lines.join("\n"));
  return new SpotterError(
    "invalid_input",
    `${where}: the command ended with exit code ${error.exitCode}: ${command}`,
    { where, hint: lines.at(-1) ?? "It wrote nothing.", cause: error },
  );
}

export async function hasImage(docker: DockerCli, image: string): Promise<boolean> {
  return (await imageId(docker, image)) !== undefined;
}

/** The id of an image of this machine; undefined where there is none of that name. */
export async function imageId(docker: DockerCli, image: string): Promise<string | undefined> {
  try {
    return (await docker.call(["image", "inspect", "--format", "{{.Id}}", image])).trim();
  } catch (error) {
    if (error instanceof DockerError && /no such image/i.test(error.words)) return undefined;
    throw error;
  }
}

/** Ends it, if it runs, and removes it with its volume; one that is not there is fine. */
export async function removeContainer(docker: DockerCli, name: string): Promise<void> {
  try {
    await docker.call(["rm", "--force", "--volumes", name]);
  } catch (error) {
    if (!isUnknown(error)) throw error;
  }
}
