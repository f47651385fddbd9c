import type { Command } from "commander";
import { findDaemon } from "../../local/find-daemon.ts";
import { spotterHome } from "../../local/home.ts";
import { stopDaemon } from "../../local/stop-daemon.ts";
import { type CliContext, print, printJson } from "../context.ts";
import { verb } from "../verb.ts";

export function downCommand(context: CliContext): Command {
  return verb("down", "Stop the daemon of this machine and everything it runs", "spotter down").action(
    async (options: { json?: boolean }) => {
      const home = spotterHome();
      const daemon = await findDaemon(home);
      if (daemon) await stopDaemon(daemon, home);
      if (options.json) return printJson(context, { stopped: daemon !== undefined, home });
      print(context, daemon ? `Stopped the daemon at ${daemon.url}.` : `No daemon runs for ${home}.`);
    },
  );
}
