import { spawn } from "node:child_process";
import type { Command } from "commander";
import { SpotterError } from "../../schema/errors.ts";
import { daemonStatus, findDaemon } from "../../local/find-daemon.ts";
import { daemonProgram, spotterHome } from "../../local/home.ts";
import { stopDaemon } from "../../local/stop-daemon.ts";
import { clearStopped } from "../../local/stop-mark.ts";
import { durationText } from "../render/time.ts";
import { ensureDaemon } from "../../local/connect.ts";
import { DAEMON_FLAGS, nodeProgram } from "../../local/node-program.ts";
import { daemonFlags, type StartDaemonParams } from "../../local/start-daemon.ts";
import { type CliContext, print, printJson } from "../context.ts";
import { verb } from "../verb.ts";
import { checkImages, imagesOf, type GpuOptions } from "./up-gpu.ts";

interface UpOptions extends GpuOptions {
  port?: string;
  foreground?: boolean;
  json?: boolean;
}

export function upCommand(context: CliContext): Command {
  return verb("up", "Start the daemon of this machine; it never ends by itself", [
    "spotter up",
    "spotter up --port 8800 --foreground",
    "spotter up --gpu --vllm-image vllm/vllm-openai:TAG --slime-image slimerl/slime:TAG",
  ])
    .option("--port <number>", "listen here; 0 picks a free port")
    .option("--foreground", "stay in this terminal and show its log")
    .option("--gpu", "run vLLM and slime in Docker, on this machine's NVIDIA GPUs (docs/engines.md)")
    .option(
      "--vllm-image <image>",
      "with --gpu: the image that serves; default SPOTTER_VLLM_IMAGE, else none",
    )
    .option(
      "--slime-image <image>",
      "with --gpu: the image that trains; default SPOTTER_SLIME_IMAGE, else none",
    )
    .action(async (options: UpOptions) => {
      const port = options.port === undefined ? undefined : portOf(options.port);
      const images = imagesOf(options, process.env);
      if (options.foreground) return foreground(context, { port, images });
      const home = spotterHome();
      await stopIfTemporary(home);
      const daemon = await ensureDaemon({ home, port, idleExitMs: undefined, images });
      checkImages(daemon, images);
      const { url, pid, runningVersion: version, idleExitMs } = daemon;
      if (options.json) {
        const gpu = daemon.images === undefined ? {} : { images: daemon.images };
        return printJson(context, { url, pid, version, home, idleExitMs: idleExitMs ?? null, ...gpu });
      }
      print(context, `Spotter ${version} is up at ${context.colors.cyan(url)} (process ${pid}).`);
      for (const [engine, image] of Object.entries(daemon.images ?? {}))
        print(context, `${engine} runs in Docker, in containers of ${image}.`);
      if (idleExitMs !== undefined) {
        const after = durationText(idleExitMs);
        print(
          context,
          `A script started it: it ends ${after} after its work. Run this again then to keep it.`,
        );
      }
      const { command } = context;
      print(context, `Stop it with \`${command("down")}\`; see what runs with \`${command("status")}\`.`);
    });
}

/** One that a script started would end by itself: it makes room for one that stays, unless it has work. */
async function stopIfTemporary(home: string): Promise<void> {
  const daemon = await findDaemon(home);
  if (daemon?.idleExitMs === undefined) return;
  const status = await daemonStatus(daemon);
  if (status?.activeRuns === 0 && status.endpoints === 0) await stopDaemon(daemon);
}

async function foreground(
  context: CliContext,
  flags: Pick<StartDaemonParams, "port" | "images">,
): Promise<void> {
  await clearStopped(spotterHome());
  const args = [daemonProgram(), ...daemonFlags(flags)];
  const child = spawn(nodeProgram(), [...DAEMON_FLAGS, ...args], { stdio: "inherit" });
  const onAbort = () => child.kill("SIGTERM");
  context.signal.addEventListener("abort", onAbort, { once: true });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("exit", resolve);
    child.once("error", reject);
  });
  context.signal.removeEventListener("abort", onAbort);
  context.signal.throwIfAborted();
  if (code !== 0) throw new SpotterError("container_failed", `The daemon ended with code ${code}.`);
}

function portOf(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new SpotterError(
    "invalid_input",
    `--port is ${JSON.stringify(text)}, expected a number from 0 to 65535.`,
    {
      where: "--port",
    },
  );
}
