import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { SpotterError } from "../schema/errors.ts";
import type { DevAnswer, DevGrants, DevMessage, DevRequest, DevRow } from "../schema/dev.ts";
import type { Verdict } from "../schema/rollout.ts";
import type { UserCodeBundle } from "../user-code/bundle.ts";
import { nodeProgram } from "./node-program.ts";

export interface DevServer {
  /** Replaces the code. Resolves to the names of its rewards. */
  load(bundle: UserCodeBundle): Promise<string[]>;
  judge(rows: DevRow[], timeoutMs: number): Promise<Verdict[]>;
  /** Resolves when its process is gone. */
  close(): Promise<void>;
}

export interface DevServerParams {
  onLog: (level: string, text: string) => void;
  inspector?: { port: number; sourceFolder: string } | undefined;
  grants?: DevGrants | undefined;
}

// An Omit that keeps the union apart.
type Question = DevRequest extends infer Each ? (Each extends DevRequest ? Omit<Each, "id"> : never) : never;
interface Waiting {
  resolve: (answer: DevAnswer) => void;
  reject: (error: SpotterError) => void;
}

/** Starts the process that runs rewards while they are written. */
export function startDevServer({ onLog, inspector, grants }: DevServerParams): DevServer {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const program = fileURLToPath(new URL(`../../functions/local/dev-server.${extension}`, import.meta.url));
  const child = fork(program, {
    execPath: nodeProgram(),
    execArgv: ["--no-warnings"],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const exited = once(child, "exit");
  const waiting = new Map<number, Waiting>();
  let lastId = 0;
  const failAll = (why: string) => {
    for (const { reject } of waiting.values()) reject(new SpotterError("isolate_crashed", why));
    waiting.clear();
  };
  child.on("message", (message: DevMessage) => {
    if (message.type === "log") return onLog(message.level, message.text);
    const { resolve, reject } = waiting.get(message.id) ?? {};
    waiting.delete(message.id);
    if ("error" in message) reject?.(SpotterError.fromBody(message.error, 400));
    else resolve?.(message.result);
  });
  child.once("exit", () => failAll("The process that runs rewards has ended."));
  child.once("error", (error) => failAll(`The process that runs rewards did not start: ${error.message}`));

  function ask(question: Question): Promise<DevAnswer> {
    return new Promise((resolve, reject) => {
      if (!child.connected)
        return reject(new SpotterError("isolate_crashed", "The process that runs rewards has ended."));
      const id = ++lastId;
      waiting.set(id, { resolve, reject });
      child.send({ ...question, id });
    });
  }

  return {
    async load({ code, sha256, name }) {
      const more = { ...(inspector && { inspector }), ...(grants && { grants }) };
      const answer = await ask({ type: "load", code, sha256, name, ...more });
      return "rewards" in answer ? answer.rewards : [];
    },
    async judge(rows, timeoutMs) {
      const answer = await ask({ type: "judge", rows, timeoutMs });
      return "verdicts" in answer ? answer.verdicts : [];
    },
    async close() {
      if (child.connected) child.disconnect();
      // Stuck code must not keep it.
      const timer = setTimeout(() => child.kill("SIGKILL"), 2_000);
      await exited;
      clearTimeout(timer);
    },
  };
}
