import type { Command } from "commander";
import { Client } from "../../client.ts";
import { TERMINAL_RUN_STATES } from "../../schema/run.ts";
import { status as statusSchema, type Status } from "../../schema/status.ts";
import { findDaemon } from "../../local/find-daemon.ts";
import { spotterHome } from "../../local/home.ts";
import { type CliContext, print, printJson } from "../context.ts";
import { spendText } from "../render/money.ts";
import { pairs } from "../render/table.ts";
import { durationText } from "../render/time.ts";
import { verb } from "../verb.ts";

export function statusCommand(context: CliContext): Command {
  return verb("status", "Say what runs here; starts nothing", [
    "spotter status",
    "spotter status --json",
  ]).action(async (options: { json?: boolean }) => {
    const client = await runningClient();
    if (!client) {
      const home = spotterHome();
      if (options.json) return printJson(context, { running: false, home });
      print(context, `No daemon runs for ${home}. \`${context.command("up")}\`, or any script, starts one.`);
      return;
    }
    const status = await client.request(statusSchema, "GET", "/status", { signal: context.signal });
    const { url } = await client.connection();
    if (options.json) return printJson(context, { running: true, url, ...status });
    const lines = pairs({
      url,
      version: status.version,
      home: status.home,
      up: durationText(Date.now() - status.startedAtMs),
      runs: [`${status.activeRuns} active`, ...endedTexts(status)].join(", "),
      endpoints: status.endpoints,
      spend: status.spend && `${spendText(status.spend)} (all that is alive)`,
    });
    for (const line of [...lines, ...status.notes]) print(context, line);
  });
}

/** How the runs that have ended did, and how many lists leave out. */
function endedTexts({ runs = {}, archivedRuns = 0 }: Status): string[] {
  const ended = TERMINAL_RUN_STATES.map((state) => `${runs[state] ?? 0} ${state}`);
  return [
    ...(runs.paused ? [`${runs.paused} paused`] : []),
    ...ended,
    ...(archivedRuns > 0 ? [`${archivedRuns} archived`] : []),
  ];
}

/** A client for what runs already; looking must not start it. */
async function runningClient(): Promise<Client | undefined> {
  if (process.env.SPOTTER_URL) return Client.default();
  const daemon = await findDaemon(spotterHome());
  return daemon && new Client({ url: daemon.url, key: daemon.adminKey });
}
