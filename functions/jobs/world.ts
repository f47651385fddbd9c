import { SpotterError } from "../../sdk/schema/errors.ts";
import type { JobCallResult, JobEnvironmentCall, JobToolCall, TrainJob } from "../../sdk/schema/job.ts";
import type { EnvironmentSetup, RunSpec } from "../../sdk/schema/run-spec.ts";
import type { Control } from "../control.ts";
import type { IsolateResult } from "../ports/isolates.ts";
import { getEval } from "../evals/records.ts";
import { getRunSpec } from "../runs/records.ts";
import { callMembers, openEnvironment, type MemberCall } from "../user-code/environments.ts";
import { openTools, toolDefinition } from "../user-code/tools.ts";
import { liveJob } from "./records.ts";

/** Calls tools of the job's own run, one result a call. What is no tool is an error of its call. */
export async function callTools(
  control: Control,
  jobId: string,
  attempt: number,
  calls: readonly JobToolCall[],
  signal?: AbortSignal,
): Promise<JobCallResult[]> {
  const spec = await specOf(control, jobId, attempt);
  return grouped(
    calls,
    ({ environment }) => environment ?? "",
    async (name, group) => {
      const { handle, members } =
        name === "" ? await runTools(control, spec) : await toolsOf(control, spec, name);
      return eachKnown(
        group,
        ({ tool }) => members.get(tool),
        (found) => callMembers(control, handle, found, signal),
      );
    },
  );
}

/** Begins episodes and goes on with them, in the environments of the job's own run. */
export async function callEnvironments(
  control: Control,
  jobId: string,
  attempt: number,
  calls: readonly JobEnvironmentCall[],
  signal?: AbortSignal,
): Promise<JobCallResult[]> {
  const spec = await specOf(control, jobId, attempt);
  return grouped(
    calls,
    ({ environment }) => environment,
    async (name, group) => {
      const setup = environmentOf(spec, name);
      const { handle } = await openEnvironment(control, setup);
      const members = group.map(({ call, input }) => ({
        name: `${setup.export}/${call}`,
        input,
        timeoutMs: setup.timeoutMs,
      }));
      return (await callMembers(control, handle, members, signal)).map(told);
    },
  );
}

/** What conversations of a run or eval are played with. */
type WorldSpec = Pick<RunSpec, "tools" | "environments">;

/** The spec of the run or eval that an attempt still owns. */
async function specOf(control: Control, jobId: string, attempt: number): Promise<WorldSpec> {
  const { owner, kind } = await liveJob(control, jobId, attempt);
  return kind === "eval" ? (await getEval(control, owner)).record.spec : getRunSpec(control, owner);
}

/** What a container is told of the tools that its model may call. */
export async function worldOf(
  control: Control,
  spec: WorldSpec,
): Promise<Pick<TrainJob, "tools" | "environments">> {
  const tools = spec.tools && (await openTools(control, spec.tools)).tools.map(toolDefinition);
  const environments = await Promise.all(
    (spec.environments ?? []).map(async (setup) => {
      const { exported } = await openEnvironment(control, setup);
      const own = (exported.members ?? []).filter(({ kind }) => kind === "tool").map(toolDefinition);
      const { name, maxTurns } = setup;
      return [name, { tools: own, steps: exported.steps ?? false, ...(maxTurns && { maxTurns }) }] as const;
    }),
  );
  return {
    ...(tools && { tools }),
    ...(environments.length > 0 && { environments: Object.fromEntries(environments) }),
  };
}

/** The environment of a run by its name there. */
export function environmentOf(spec: WorldSpec, name: string): EnvironmentSetup {
  const setup = spec.environments?.find((each) => each.name === name);
  if (setup) return setup;
  throw new SpotterError("environment_missing", `The run has no environment "${name}".`, {
    hint: "The dataset's rows name the environment whose tasks they are.",
  });
}

type Callable = Pick<MemberCall, "name" | "timeoutMs">;
interface Callables {
  handle: Awaited<ReturnType<typeof openEnvironment>>["handle"];
  members: Map<string, Callable>;
}

async function runTools(control: Control, spec: WorldSpec): Promise<Callables> {
  if (spec.tools === undefined) throw new SpotterError("tool_missing", "The run has no tools.");
  const { timeoutMs: limitMs } = spec.tools;
  const { handle, tools } = await openTools(control, spec.tools);
  const members = tools.map(({ name, timeoutMs = limitMs }) => [name, { name, timeoutMs }] as const);
  return { handle, members: new Map(members) };
}

async function toolsOf(control: Control, spec: WorldSpec, name: string): Promise<Callables> {
  const setup = environmentOf(spec, name);
  const { handle, exported } = await openEnvironment(control, setup);
  const members = (exported.members ?? [])
    .filter(({ kind }) => kind === "tool")
    .map(({ name: tool, timeoutMs = setup.timeoutMs }) => {
      return [tool, { name: `${setup.export}/tools/${tool}`, timeoutMs }] as const;
    });
  return { handle, members: new Map(members) };
}

async function eachKnown(
  calls: readonly JobToolCall[],
  find: (call: JobToolCall) => Callable | undefined,
  run: (calls: MemberCall[]) => Promise<IsolateResult[]>,
): Promise<JobCallResult[]> {
  const found = calls.map((call) => {
    const member = find(call);
    return member && { ...member, input: call.input };
  });
  const results = await run(found.filter((each) => each !== undefined));
  let next = 0;
  return calls.map(({ tool }, index) => {
    const result = found[index] === undefined ? undefined : results[next++];
    return result ? told(result) : { error: { code: "tool_missing", message: `there is no tool "${tool}"` } };
  });
}

function told(result: IsolateResult): JobCallResult {
  if (!("error" in result)) return result;
  return { error: { code: result.error.code, message: result.error.message } };
}

async function grouped<Call>(
  calls: readonly Call[],
  keyOf: (call: Call) => string,
  run: (key: string, group: Call[]) => Promise<JobCallResult[]>,
): Promise<JobCallResult[]> {
  const results: JobCallResult[] = [];
  const byKey = Map.groupBy(calls.entries(), ([, call]) => keyOf(call));
  await Promise.all(
    [...byKey].map(async ([key, entries]) => {
      const answers = await run(
        key,
        entries.map(([, call]) => call),
      );
      entries.forEach(([index], at) => {
        results[index] = answers[at] ?? { error: { code: "isolate_crashed", message: "no answer" } };
      });
    }),
  );
  return results;
}
