/**
 * Runs inside the isolate, around the user's module: tells what it exports and calls exports over many rows. It uses web standards only, so the same bundle runs in workerd and on Lambda.
 *
 * @module
 */
import type { RewardRow } from "../schema/rollout.ts";
import { timerMs } from "../schema/timer-ms.ts";
import type { IsolateOutcome, IsolateRequest, UserCodeExport } from "../schema/user-code.ts";
import { capConsole } from "./console.ts";
import { definitionOf } from "./definition.ts";
import { rewardOutcome } from "./reward-value.ts";

/** Longest answer of a tool: more than fits the context of any model. */
const MAX_TOOL_CHARACTERS = 128 * 1024;

type Callable = (first: unknown, second: unknown) => unknown;
type Runner = (row: unknown, secrets: Record<string, string>) => unknown;

/** The default export of a bundle. `module` is the user's module namespace. */
export function createAdapter(module: Readonly<Record<string, unknown>>): {
  fetch(request: Request): Promise<Response>;
} {
  const resetConsole = capConsole(console);
  return {
    async fetch(request) {
      if (request.method === "GET") return Response.json(describe(module));
      resetConsole();
      const text = await request.text();
      const headerEnd = text.indexOf("\n");
      const header = JSON.parse(text.slice(0, headerEnd)) as IsolateRequest;
      const rowsText = text.slice(headerEnd + 1);
      // Each export on rows of its own: what one changes in them the others must not see.
      const results = await Promise.all(
        header.exports.map((name) => callRows(module, name, JSON.parse(rowsText) as unknown[], header)),
      );
      return Response.json({ results });
    },
  };
}

function describe(module: Readonly<Record<string, unknown>>): {
  exports: UserCodeExport[];
  others: string[];
  joint: true;
} {
  const exports: UserCodeExport[] = [];
  const others: string[] = [];
  for (const [name, value] of Object.entries(module)) {
    const definition = definitionOf(value);
    if (definition) exports.push({ name, ...definition });
    else others.push(name);
  }
  return { exports, others, joint: true };
}

async function callRows(
  module: Readonly<Record<string, unknown>>,
  name: string,
  rows: unknown[],
  { secrets, timeoutMs }: IsolateRequest,
): Promise<IsolateOutcome[]> {
  const kind = definitionOf(module[name])?.kind;
  if (kind !== "reward" && kind !== "tool") {
    const message = `"${name}" is not an exported reward or tool`;
    return rows.map(() => ({ error: { code: "user_code_invalid", message } }));
  }
  const run =
    kind === "reward" ? rewardRunner(module[name] as Callable) : toolRunner(module[name] as Callable);
  const finish = kind === "reward" ? rewardOutcome : toolOutcome;
  const outcomes: (IsolateOutcome | undefined)[] = rows.map(() => undefined);
  const all = rows.map(async (row, index) => {
    try {
      outcomes[index] = finish(await run(row, secrets));
    } catch (error) {
      outcomes[index] = { error: thrown(error, `${kind}_failed`) };
    }
  });
  // The clock starts after the synchronous part of every row: a row must not pay for its neighbours.
  // What never gets this far is ended from outside.
  await withDeadline(Promise.all(all), timeoutMs);
  const late = { error: { code: `${kind}_timeout`, message: `no answer within ${timeoutMs} ms` } };
  return outcomes.map((outcome) => outcome ?? late);
}

function rewardRunner(judge: Callable): Runner {
  return (row, secrets) => {
    const { messages, row: data, metadata, variables, response, completion } = row as RewardRow;
    return judge({ row: data, metadata, variables, response, completion, secrets: { ...secrets } }, messages);
  };
}

function toolRunner(call: Callable): Runner {
  return (row, secrets) => call(row, { secrets: { ...secrets } });
}

function toolOutcome(value: unknown): IsolateOutcome {
  // Serialised here, where a cycle or a BigInt costs one row and not the whole answer.
  let text: string;
  try {
    text = JSON.stringify(value ?? null) ?? "null";
  } catch (error) {
    return { error: { ...thrown(error, "tool_invalid"), message: "it returned something that is not JSON" } };
  }
  if (text.length <= MAX_TOOL_CHARACTERS) return { value: JSON.parse(text) as unknown };
  const message = `it returned ${text.length} characters of JSON; a model can use ${MAX_TOOL_CHARACTERS} at most`;
  return { error: { code: "tool_invalid", message } };
}

async function withDeadline(work: Promise<unknown>, timeoutMs: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const deadline = new Promise((resolve) => {
    timer = setTimeout(resolve, timerMs(timeoutMs));
  });
  await Promise.race([work, deadline]);
  clearTimeout(timer);
}

/** Of anything that was thrown; errors with getters that throw themselves are thrown too. */
function thrown(error: unknown, code: string): { code: string; message: string; stack?: string } {
  try {
    if (!(error instanceof Error)) return { code, message: `it threw ${safeText(error)}` };
    const text = `${error.name}: ${error.message}`;
    const stack = String(error.stack ?? "").slice(0, 4_000);
    const finalCode = isOutOfMemory(error) ? "isolate_out_of_memory" : code;
    return { code: finalCode, message: `it threw ${text}`.slice(0, 2_000), stack };
  } catch {
    return { code, message: "it threw something that cannot be read" };
  }
}

/** workerd refuses what is above the memory limit with these RangeErrors instead of dying. */
function isOutOfMemory(error: Error): boolean {
  return (
    error instanceof RangeError &&
    /allocation failed|invalid (typed )?array (buffer )?length/i.test(error.message)
  );
}

function safeText(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, 500);
  } catch {
    return typeof value;
  }
}
