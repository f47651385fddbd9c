import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { parseWith } from "../../sdk/schema/parse.ts";
import type { EvalJob, TrainJob } from "../../sdk/schema/job.ts";
import { pythonBundle } from "../../sdk/schema/user-code.ts";
import type { JobClient } from "../agent.ts";
import type { ContainerLog } from "../agent/log.ts";
import { createPythonPlayer, type PythonPlayer } from "./python-judge.ts";
import { unpackPython } from "./python-files.ts";
import { startPython } from "./python-process.ts";
import { pythonWithRequirements } from "./python-requirements.ts";

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
  const bundle = parseWith(pythonBundle, JSON.parse(await readFile(file, "utf8")), "The bundle of Python");
  await unpackPython(bundle, folder);
  const program = await pythonWithRequirements({
    text: bundle.requirements ?? "",
    python: "python3",
    cacheFolder: join(process.env["SPOTTER_CACHE_DIR"] ?? workDir, "python"),
    log,
  });
  const files = [setup.rewards, setup.tools].flatMap((each) => each?.file ?? []);
  const python = await startPython({
    python: program,
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

function refuseTwice(names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return;
  throw new SpotterError("user_code_invalid", `Two tools are called "${twice}", one of them in Python.`, {
    where: "tools",
    hint: "Give one of them another name.",
  });
}
