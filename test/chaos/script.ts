// What a user's script does: launch a run, look at it until it ends. Says what it was told, a line each.
import { Client, Run } from "../../sdk/index.ts";
import { launchWork } from "./work.ts";

const [model = "", known] = process.argv.slice(2);
const client = new Client();
const run = known === undefined ? await launchWork(client, model) : await Run.get(known, { client });
say({ launched: run.id });
for await (const event of run.events()) say({ event });
const { run: ended } = await run.result();
say({ ended: ended.state });

function say(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
