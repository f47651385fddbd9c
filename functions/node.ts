/**
 * The daemon of one machine: `node functions/node.ts [--port N] [--idle-exit-ms N]
 * [--gpu [--slime-image IMAGE] [--vllm-image IMAGE] | --no-gpu]`. State lies in `$SPOTTER_HOME` (default
 * `~/.spotter`). Without a word on GPUs it is as the daemon before it. Ends on SIGTERM, SIGINT and `POST /shutdown`, and stops its
 * containers then; after a crash the next daemon of the same folder takes them over.
 *
 * @module
 */
import { enableCompileCache } from "node:module";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { DaemonOptions } from "./local/daemon.ts";

const home = resolve(process.env["SPOTTER_HOME"] || join(homedir(), ".spotter"));
// Before anything large is loaded: half of the daemon's start would be compiling.
enableCompileCache(join(home, "compile-cache"));
const { SpotterError } = await import("../sdk/schema/errors.ts");
const { imageFrom } = await import("../sdk/schema/engine-images.ts");

try {
  const { runDaemon } = await import("./local/daemon.ts");
  await runDaemon({ home, ...readFlags() });
  process.exit(0);
} catch (thrown) {
  const error = SpotterError.from(thrown);
  // The last line: whoever started this reads the error from it.
  process.stderr.write(`${JSON.stringify(error.toBody())}\n`);
  process.exit(error.kind === "user" ? 2 : 1);
}

function readFlags(): Omit<DaemonOptions, "home"> {
  const { values } = parsedFlags();
  const { gpu, "slime-image": slime, "vllm-image": vllm } = values;
  return {
    ...(gpu === true && {
      images: { slime: imageFrom("--slime-image", slime), vllm: imageFrom("--vllm-image", vllm) },
    }),
    ...(gpu === false && { images: "none" as const }),
    port: wholeNumber("--port", values.port, 65_535),
    idleExitMs: wholeNumber("--idle-exit-ms", values["idle-exit-ms"], Number.MAX_SAFE_INTEGER),
  };
}

function parsedFlags() {
  try {
    return parseArgs({
      allowNegative: true,
      options: {
        port: { type: "string" },
        "idle-exit-ms": { type: "string" },
        gpu: { type: "boolean" },
        "slime-image": { type: "string" },
        "vllm-image": { type: "string" },
      },
    });
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new SpotterError("invalid_input", message, {
      hint: "It takes --port N, --idle-exit-ms N, --gpu with --slime-image and --vllm-image, and --no-gpu.",
      cause,
    });
  }
}

function wholeNumber(name: string, text: string | undefined, max: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= max) return value;
  throw new SpotterError("invalid_input", `${name} is "${text}", expected a whole number up to ${max}.`, {
    where: name,
  });
}
