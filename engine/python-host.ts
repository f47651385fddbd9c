/**
 * Entry of the process in which `spotter test` runs Python: what judges and answers beside a trainer, without one.
 * Speaks JSON lines, see sdk/schema/python-host.ts, and ends with its standard input.
 *
 * @module
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { SpotterError } from "../sdk/schema/errors.ts";
import type { JobToolCall } from "../sdk/schema/job.ts";
import { parseWith } from "../sdk/schema/parse.ts";
import { parseExactly } from "../sdk/schema/exact-json.ts";
import { pythonHostSetup, type PythonHostSetup } from "../sdk/schema/python-host.ts";
import type { RewardRow } from "../sdk/schema/rollout.ts";
import { unpackPython } from "./training/python-files.ts";
import { createPythonPlayer } from "./training/python-judge.ts";
import { startPython, type PythonProcess } from "./training/python-process.ts";
import { pythonWithRequirements } from "./training/python-requirements.ts";

type Request = { id: number } & (
  { rows: RewardRow[] } | { calls: JobToolCall[]; row: Record<string, unknown> }
);

const say = (line: string) => void process.stderr.write(`${line}\n`);
const log = { info: say, warn: say };

const workDir = await mkdtemp(join(tmpdir(), "spotter-python-"));
let python: PythonProcess | undefined;
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
try {
  const first = await lines.next();
  const setup = parseWith(pythonHostSetup, parseExactly(first.value ?? "null"), "The setup");
  python = await open(setup);
  await serve(setup, python);
} catch (error) {
  answer(SpotterError.from(error).toBody());
} finally {
  await python?.close();
  await rm(workDir, { recursive: true, force: true });
}
// User code's threads are gone; what still holds this process open is nobody's.
process.exit(0);

async function open({ bundle, code, secrets, cacheFolder }: PythonHostSetup): Promise<PythonProcess> {
  await unpackPython(bundle, workDir);
  const program = await pythonWithRequirements({
    text: bundle.requirements ?? "",
    python: "python3",
    cacheFolder,
    log,
  });
  const files = [code.rewards, code.tools].flatMap((each) => each?.file ?? []);
  const environment = process.env;
  return startPython({ python: program, folder: workDir, workDir, files, secrets, environment, log });
}

/** Until nobody asks any more. */
async function serve({ code }: PythonHostSetup, started: PythonProcess): Promise<void> {
  const player = createPythonPlayer(code, started, { judge: nobody, callTools: nobody });
  const rewards = code.rewards === undefined ? [] : started.rewards.map(({ name }) => name);
  answer({ rewards, tools: player.tools });
  for (let line = await lines.next(); line.done !== true; line = await lines.next()) {
    const request = parseExactly(line.value) as Request;
    const { id } = request;
    const working =
      "rows" in request
        ? player.judge(request.rows).then((verdicts) => ({ verdicts }))
        : player
            .callTools(
              request.calls,
              request.calls.map(() => request.row),
            )
            .then((results) => ({ results }));
    working.then(
      (value) => answer({ id, ...value }),
      (error: unknown) => answer({ id, ...SpotterError.from(error).toBody() }),
    );
  }
}

function answer(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** All that is asked here is Python's. */
async function nobody(items: readonly unknown[]): Promise<never[]> {
  if (items.length === 0) return [];
  throw new SpotterError("internal", "There is no control plane behind a test's Python.");
}
