import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { SpotterError } from "../../../sdk/schema/errors.ts";

export interface DockerCliOptions {
  /** Default: `docker`, from the PATH of `environment`. */
  program?: string;
  /** Of the command line itself; what containers get goes by file. */
  environment: NodeJS.ProcessEnv;
  /** Longest time until an answer to what Docker does at once. Default: 15 seconds. */
  answerMs?: number;
}

export interface CallOptions {
  /** Its end ends the call. */
  signal?: AbortSignal;
  /** Ends the call with `timeout`. Default: `answerMs` for what Docker does at once; the rest has no limit. */
  timeoutMs?: number;
  /** Both streams go to the end of this file, in the order of their writing, instead of into the answer. */
  into?: string;
}

/** A call that Docker refused, or that did not end well. */
export class DockerError extends Error {
  readonly exitCode: number | null;
  /** What it wrote for people; empty where that went into a file. */
  readonly words: string;

  constructor(command: string, exitCode: number | null, words: string) {
    super(`docker ${command}: ${words === "" ? `exit code ${exitCode}` : words}`);
    this.name = "DockerError";
    this.exitCode = exitCode;
    this.words = words;
  }
}

/** What the command line needs of our own environment to find its daemon, its logins and itself. */
const OWN_VARIABLES = /^(PATH|HOME|LANG|XDG_\w+|DOCKER_\w+|HTTPS?_PROXY|NO_PROXY|SSH_AUTH_SOCK)$/i;

/** What Docker does at once: without a limit, a daemon of it that hangs would hold ours, and `spotter down`. */
const AT_ONCE = ["inspect", "image", "ps", "logs", "kill", "rm", "info"];
const ANSWER_MS = 15_000;

/** The `docker` command line, as people have it: whatever context, socket and login it uses is theirs. */
export class DockerCli {
  readonly #program: string;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #answerMs: number;

  constructor({ program = "docker", environment, answerMs = ANSWER_MS }: DockerCliOptions) {
    this.#program = program;
    this.#answerMs = answerMs;
    const own = Object.entries(environment).filter(([name]) => OWN_VARIABLES.test(name));
    this.#environment = Object.fromEntries(own);
  }

  /**
   * Runs one command and resolves to what it wrote.
   *
   * @throws DockerError, SpotterError `docker_missing` (no such program), `timeout`; the signal's own reason
   */
  async call(args: readonly string[], options: CallOptions = {}): Promise<string> {
    const [command = ""] = args;
    const { signal, timeoutMs = AT_ONCE.includes(command) ? this.#answerMs : undefined, into } = options;
    signal?.throwIfAborted();
    const deadline = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
    const stops = [signal, deadline].filter((each) => each !== undefined);
    try {
      const { exitCode, out, words } = await this.#spawn(args, AbortSignal.any(stops), into);
      if (exitCode === 0) return out;
      throw new DockerError(command, exitCode, words.trim());
    } catch (error) {
      signal?.throwIfAborted();
      if (deadline?.aborted !== true) throw error;
      throw new SpotterError("timeout", `docker ${command} took longer than ${timeoutMs} ms.`, {
        hint: "Does `docker info` answer?",
        cause: error,
      });
    }
  }

  /** What it writes to both streams, line by line, in the order of their writing. */
  async lines(args: readonly string[]): Promise<string[]> {
    const shell = ["-c", 'exec "$0" "$@" 2>&1', this.#program, ...args];
    const deadline = AbortSignal.timeout(this.#answerMs);
    const { exitCode, out } = await this.#spawn(shell, deadline, undefined, "/bin/sh");
    if (exitCode !== 0) throw new DockerError(args[0] ?? "", exitCode, out.trim());
    return out.split("\n").slice(0, -1);
  }

  async #spawn(
    args: readonly string[],
    signal: AbortSignal | undefined,
    into: string | undefined,
    program = this.#program,
  ) {
    const file = into === undefined ? undefined : openSync(into, "a", 0o600);
    try {
      const child = spawn(program, args, {
        env: this.#environment,
        // Away from our terminal: its Ctrl-C is for us.
        detached: true,
        stdio: ["ignore", file ?? "pipe", file ?? "pipe"],
        ...(signal && { signal, killSignal: "SIGKILL" }),
      });
      const texts = Promise.all([textOf(child.stdout), textOf(child.stderr)]);
      const exitCode = await new Promise<number | null>((resolve, reject) => {
        child.once("error", (error) => reject(isMissing(error) ? noDocker(this.#program, error) : error));
        child.once("close", resolve);
      });
      const [out, words] = await texts;
      return { exitCode, out, words };
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }
}

async function textOf(stream: NodeJS.ReadableStream | null): Promise<string> {
  let text = "";
  if (stream === null) return text;
  stream.setEncoding("utf8");
  for await (const chunk of stream) text += String(chunk);
  return text;
}

function isMissing(error: Error & { code?: string }): boolean {
  return error.code === "ENOENT" || error.code === "EACCES";
}

function noDocker(program: string, cause: Error): SpotterError {
  return new SpotterError("docker_missing", `There is no \`${program}\` to start containers with.`, {
    hint: "Install Docker Engine (https://docs.docker.com/engine/install) or put it on the PATH.",
    cause,
  });
}
