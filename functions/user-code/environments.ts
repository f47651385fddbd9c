import type { ErrorCode } from "../../sdk/schema/error-codes.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { nearestName } from "../../sdk/schema/parse.ts";
import type { UserCodeRef } from "../../sdk/schema/run-spec.ts";
import type { UserCodeExport } from "../../sdk/schema/user-code.ts";
import type { IsolateHandle, IsolateResult } from "../ports/isolates.ts";
import { redacted } from "../secrets/redacted.ts";
import { loadedIsolate } from "./loaded.ts";
import { getUserCode, type UserCodeDeps } from "./records.ts";

export interface OpenEnvironment {
  handle: IsolateHandle;
  exported: UserCodeExport;
  /** File name for messages. */
  file: string;
}

/** @throws SpotterError `environment_missing`, naming what is exported. */
export function findEnvironment(
  exports: readonly UserCodeExport[],
  name: string,
  file: string,
): UserCodeExport {
  const found = exports.find((each) => each.kind === "environment" && each.name === name);
  if (found) return found;
  const known = exports.filter(({ kind }) => kind === "environment").map((each) => each.name);
  const near = nearestName(name, known);
  const what = known.length === 0 ? "it exports no environment" : `there is ${known.join(", ")}`;
  throw new SpotterError("environment_missing", `${file} has no environment "${name}"; ${what}.`, {
    where: file,
    hint: near
      ? `Did you mean "${near}"?`
      : "Wrap it: export const game = environment({ load, setup, step, rewards });",
  });
}

/** The isolate that an environment runs in. */
export async function openEnvironment(
  deps: UserCodeDeps,
  setup: { code: UserCodeRef; export: string },
): Promise<OpenEnvironment> {
  const { name: file } = await getUserCode(deps, setup.code.sha256);
  const handle = await loadedIsolate(deps, setup.code);
  return { handle, file, exported: findEnvironment(handle.exports, setup.export, file) };
}

export interface MemberCall {
  /** What the isolate calls: an export, or a part of an environment. */
  name: string;
  input: unknown;
  timeoutMs: number;
}

/** Calls any number of members, those of one name together. One result a call, in their order. */
export async function callMembers(
  deps: Pick<UserCodeDeps, "secrets">,
  handle: IsolateHandle,
  calls: readonly MemberCall[],
  signal?: AbortSignal,
): Promise<IsolateResult[]> {
  const results: IsolateResult[] = [];
  const groups = Map.groupBy(calls.keys(), (index) => calls[index]?.name ?? "");
  await Promise.all(
    [...groups].map(async ([name, indexes]) => {
      const inputs = indexes.map((index) => calls[index]?.input);
      const timeoutMs = Math.max(...indexes.map((index) => calls[index]?.timeoutMs ?? 0));
      const answers = await handle.call(name, inputs, { timeoutMs, ...(signal && { signal }) });
      indexes.forEach((index, at) => {
        results[index] = answers[at] ?? { error: { code: "isolate_crashed", message: "no answer" } };
      });
    }),
  );
  // What user code says goes to the model and into rollouts.
  return results.map((result) => redacted(deps.secrets, result));
}

/**
 * The tasks of an environment.
 *
 * @throws SpotterError `environment_missing`, or what `load` failed with: `environment_failed`,
 * `environment_invalid`, `environment_timeout`, `isolate_out_of_memory`.
 */
export async function loadTasks(
  deps: UserCodeDeps,
  setup: { code: UserCodeRef; export: string },
  args: Record<string, unknown>,
  options: { timeoutMs: number; signal?: AbortSignal },
): Promise<Record<string, unknown>[]> {
  const { handle, file } = await openEnvironment(deps, setup);
  const call = { name: `${setup.export}/load`, input: args, timeoutMs: options.timeoutMs };
  const [result] = await callMembers(deps, handle, [call], options.signal);
  if (result && "value" in result) return result.value as Record<string, unknown>[];
  throw environmentError(result?.error, `load of "${setup.export}"`, file);
}

/** What went wrong in user code, as an error of the request that needed it. */
export function environmentError(
  error: { code: string; message: string; where?: string } | undefined,
  what: string,
  file: string,
): SpotterError {
  const code = (error?.code ?? "environment_failed") as ErrorCode;
  return new SpotterError(code, `${what}: ${error?.message ?? "it gave no answer"}`, {
    where: error?.where ?? file,
    hint: "Try it by itself: an environment is a plain object with functions.",
    status: 400,
  });
}
