import type { Command } from "commander";
import { daemonStatus, findDaemon, type Daemon } from "../../local/find-daemon.ts";
import { spotterHome } from "../../local/home.ts";
import { stopDaemon } from "../../local/stop-daemon.ts";
import { markStopped } from "../../local/stop-mark.ts";
import { type CliContext, print, printJson } from "../context.ts";
import { verb } from "../verb.ts";

export function downCommand(context: CliContext): Command {
  return verb("down", "Stop the daemon of this machine and everything it runs", "spotter down").action(
    async (options: { json?: boolean }) => {
      const home = spotterHome();
      const daemon = await findDaemon(home);
      if (daemon) {
        if (!options.json) print(context, `Stopping the daemon at ${daemon.url} ${await workOf(daemon)}`);
        await markStopped(home, daemon.pid);
        await stopDaemon(daemon);
      }
      if (options.json) return printJson(context, { stopped: daemon !== undefined, home });
      print(context, daemon ? "Stopped." : `No daemon runs for ${home}.`);
    },
  );
}

async function workOf(daemon: Daemon): Promise<string> {
  const status = await daemonStatus(daemon);
  if (!status) return "…";
  return `… (${counted(status.activeRuns, "training")}, ${counted(status.endpoints, "endpoint")})`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
