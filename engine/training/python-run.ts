import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { parseWith } from "../../sdk/schema/parse.ts";
import type { EvalJob, TrainJob } from "../../sdk/schema/job.ts";
import { pythonBundle } from "../../sdk/schema/user-code.ts";
import type { JobClient } from "../agent.ts";
import type { ContainerLog } from "../agent/log.ts";
import { createPythonPlayer, type PythonPlayer } from "./python-judge.ts";
import { startPython } from "./python-process.ts";

/**
 * Who judges and calls tools: the control plane, and where a run has user code in Python, a process beside this one
 * that ends with what is returned here.
 */
export async function openPython(
  job: TrainJob | EvalJob,
  client: JobClient,
  workDir: string,
  log: ContainerLog,
): Promise<PythonPlayer & AsyncDisposable> {
  const { tools = [], python: sent, spec } = job;
  const { python: setup } = spec;
  if (setup === undefined || sent === undefined) {
    return {
      tools,
      judge: (rows) => client.judge(rows),
      callTools: (calls) => client.callTools(calls),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }
  const folder = join(workDir, "python");
  const file = join(workDir, "python.json");
  await client.download(sent.code, file);
  await unpack(file, folder);
  const files = [setup.rewards, setup.tools].flatMap((each) => each?.file ?? []);
  const python = await startPython({
    folder,
    workDir: folder,
    files: [...new Set(files)],
    secrets: sent.secrets,
    environment: process.env,
    log,
  });
  try {
    const player = createPythonPlayer(setup, python, client);
    const all = [...tools, ...player.tools];
    refuseTwice(all.map((tool) => tool.function.name));
    const names = (each: readonly { name: string }[]) => each.map(({ name }) => name).join(", ") || "none";
    log.info(`python: rewards ${names(python.rewards)}; tools ${names(python.tools)}`);
    return { ...player, tools: all, [Symbol.asyncDispose]: () => python.close() };
  } catch (error) {
    await python.close();
    throw error;
  }
}

async function unpack(bundle: string, folder: string): Promise<void> {
  const { files } = parseWith(
    pythonBundle,
    JSON.parse(await readFile(bundle, "utf8")),
    "The bundle of Python",
  );
  for (const [path, source] of Object.entries(files)) {
    const to = join(folder, path);
    await mkdir(dirname(to), { recursive: true });
    await writeFile(to, source);
  }
}

function refuseTwice(names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return;
  throw new SpotterError("user_code_invalid", `Two tools are called "${twice}", one of them in Python.`, {
    where: "tools",
    hint: "Give one of them another name.",
  });
}
