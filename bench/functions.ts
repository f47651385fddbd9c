/**
 * The functions of the control plane on AWS: size of each one's zip, time to import it in a fresh process, and
 * a warm answer through Lambda's runtime loop; then how long a launch takes on fakes of AWS, and whether 500
 * launches at once all happen. Each figure is that of the worst function.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { EndpointDocument } from "../functions/endpoints/records.ts";
import { zipSize } from "../test/fakes/lambda-runtime/zip-size.ts";
import {
  bundleOf,
  deploy,
  FUNCTIONS,
  writeFiles,
  type Deployment,
  type FunctionName,
} from "../test/fakes/lambda-runtime/deploy.ts";
import { exec, lastJson, median, type FigureRow, type Figures } from "./figures.ts";

const IMPORTS = 7;
const WARM_CALLS = 200;
const LAUNCHES = 20;
const AT_ONCE = 500;
/** Requests that are under way at the same time: as many environments as this machine can stand. */
const ENVIRONMENTS = 4;
/** A route of each function that reads something of the table, the key first. */
const WARM: Partial<Record<FunctionName, string>> = {
  chat: "/v1/models",
  events: "/runs/run-x/events",
  pages: "/status",
};

export async function run(log: (line: string) => void): Promise<Figures> {
  const stack = await deploy({ maxConcurrency: ENVIRONMENTS });
  try {
    const rows: FigureRow[] = [];
    for (const name of FUNCTIONS) {
      const row = await figuresOf(name, stack);
      rows.push(row);
      log(`${name}: ${JSON.stringify(row)}`);
    }
    const { launchMs, launchSlowestMs } = await launchTimes(stack);
    log(`launch: ${launchMs.toFixed(1)} ms, the slowest ${launchSlowestMs.toFixed(1)} ms`);
    const { lost, versions } = await launchAtOnce(stack);
    log(`${AT_ONCE} launches at once: ${lost} lost, ${versions} of version 1 or more`);
    const worst = (figure: string) => Math.max(...rows.map((row) => Number(row[figure] ?? 0)));
    return {
      zipKb: worst("zipKb"),
      importMs: worst("importMs"),
      warmMs: worst("warmMs"),
      warmReadMs: worst("warmReadMs"),
      launchMs,
      launchSlowestMs,
      launchesAtOnce: AT_ONCE,
      lostLaunches: lost,
      functions: rows,
    };
  } finally {
    await stack.close();
  }
}

async function figuresOf(name: FunctionName, stack: Deployment): Promise<FigureRow> {
  const files = await bundleOf(name);
  const row = { function: name, zipKb: zipSize(files) / 1000, importMs: await importTime(files) };
  if (["key-bootstrap", "reconciler", "scaler"].includes(name))
    return { ...row, warmMs: null, warmReadMs: null };
  const warmMs = await warmTime(name, stack, null);
  return { ...row, warmMs, warmReadMs: await warmTime(name, stack) };
}

/** In a process that has loaded nothing else; the first one warms the file cache and is not counted. */
async function importTime(files: Awaited<ReturnType<typeof bundleOf>>): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "spotter-bench-functions-"));
  try {
    writeFiles(folder, files);
    const script = `
      globalThis.awslambda = { streamifyResponse: (handler) => handler };
      const before = performance.now();
      await import(${JSON.stringify(pathToFileURL(join(folder, "index.mjs")).href)});
      console.log(JSON.stringify({ importMs: performance.now() - before }));`;
    const times: number[] = [];
    for (let round = 0; round <= IMPORTS; round++) {
      const { code, stdout, stderr } = await exec(process.execPath, ["--input-type=module", "-e", script]);
      if (code !== 0) throw new Error(`A function did not load:\n${stderr}`);
      if (round > 0) times.push(lastJson<{ importMs: number }>(stdout).importMs);
    }
    return median(times);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Without a key it is what the function and the runtime cost: the table is not asked. With one it is a list, or that
 * there is no such thing, and the fake table works on the same processor.
 */
async function warmTime(name: FunctionName, stack: Deployment, token?: null): Promise<number> {
  const path = WARM[name] ?? `/${name}`;
  const times: number[] = [];
  for (let call = -20; call < WARM_CALLS; call++) {
    const startedMs = performance.now();
    const response = await stack.call(name, "GET", path, undefined, token);
    await response.arrayBuffer();
    if (response.status >= 500) throw new Error(`${name} answered ${response.status}`);
    if (call >= 0) times.push(performance.now() - startedMs);
  }
  return median(times);
}

/** A launch as a client sees it: written down, the reconciler asked, answered. */
async function launchTimes(stack: Deployment): Promise<{ launchMs: number; launchSlowestMs: number }> {
  const times: number[] = [];
  for (let launch = -2; launch < LAUNCHES; launch++) {
    const startedMs = performance.now();
    await launchOne(stack, `bench-${launch + 2}`);
    if (launch >= 0) times.push(performance.now() - startedMs);
  }
  return { launchMs: median(times), launchSlowestMs: Math.max(...times) };
}

async function launchAtOnce(stack: Deployment): Promise<{ lost: number; versions: number }> {
  const names = Array.from({ length: AT_ONCE }, (_, index) => `many-${index}`);
  await Promise.all(names.map((name) => launchOne(stack, name)));
  const stored = await Promise.all(
    names.map((sort) => stack.store.get<EndpointDocument>({ partition: "endpoints", sort })),
  );
  const sound = stored.filter(
    (document, index) =>
      document !== undefined && document.value.endpoint.name === names[index] && document.version >= 1,
  );
  return { lost: AT_ONCE - sound.length, versions: sound.length };
}

async function launchOne(stack: Deployment, name: string): Promise<void> {
  const body = { name, model: { name: "spotter/nano" }, scaling: { min: 0, max: 1 } };
  const response = await stack.call("endpoints", "POST", "/endpoints", body);
  const text = await response.text();
  if (!response.ok) throw new Error(`The launch of ${name} answered ${response.status}: ${text}`);
}
