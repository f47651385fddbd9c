import { spawn } from "node:child_process";
import type { Command } from "commander";
import * as z from "zod/mini";
import { Client } from "../../client.ts";
import { Run } from "../../run.ts";
import { type CliContext, print, printJson } from "../context.ts";
import { verb } from "../verb.ts";

const uiCode = z.object({ url: z.string() });

/** How long an address opens the pages: see functions/pages/sessions.ts. */
const LIFETIME = "1 minute";

export function openCommand(context: CliContext): Command {
  return verb(
    "open [run]",
    "Open the pages in a browser, signed in",
    ["spotter open", "spotter open run-EXAMPLE"],
    { run: "begin at the page of this run" },
  )
    .option("--no-browser", "only print the address")
    .action(async (run: string | undefined, options: { browser: boolean; json?: boolean }) => {
      const { signal } = context;
      // The page of a run that is not there could only say so in a browser.
      if (run !== undefined) await Run.get(run, { signal });
      const to = run === undefined ? "/ui" : `/ui/runs/${run}`;
      const request = { json: { to }, signal };
      const { url } = await Client.default().request(uiCode, "POST", "/ui-codes", request);
      if (options.json) printJson(context, { url });
      else print(context, url);
      if (options.json) return;
      if (options.browser && (await openBrowser(url))) return;
      context.err.write(`Open this address within ${LIFETIME}, once.\n`);
    });
}

/** Whether a browser could be asked; the address was printed in any case. */
async function openBrowser(url: string): Promise<boolean> {
  const program = process.platform === "darwin" ? "open" : "xdg-open";
  const child = spawn(program, [url], { detached: true, stdio: "ignore" });
  child.unref();
  return new Promise((resolve) => {
    child.once("spawn", () => resolve(true));
    child.once("error", () => resolve(false));
  });
}
