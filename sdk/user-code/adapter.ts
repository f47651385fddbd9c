/**
 * Runs inside the isolate, around the user's module: tells what it exports and calls one export over many
 * rows. It uses web standards only, so the same bundle runs in workerd and on Lambda.
 *
 * @module
 */
import type { IsolateOutcome, IsolateRequest, UserCodeExport } from "../schema/user-code.ts";
import { capConsole } from "./console.ts";
import { definitionOf } from "./definition.ts";
import { rewardOutcome } from "./reward-value.ts";

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
      const body = (await request.json()) as IsolateRequest;
      return Response.json({ results: await callRows(module, body) });
    },
  };
}

function describe(module: Readonly<Record<string, unknown>>): {
  exports: UserCodeExport[];
  others: string[];
} {
  const exports: UserCodeExport[] = [];
  const others: string[] = [];
  for (const [name, value] of Object.entries(module)) {
    const definition = definitionOf(value);
    if (definition) exports.push({ name, ...definition });
    else others.push(name);
  }
  return { exports, others };
}

async function callRows(
  module: Readonly<Record<string, unknown>>,
  { export: name, rows, secrets, timeoutMs }: IsolateRequest,
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
    const { messages, ...args } = row as { messages: unknown };
    return judge({ ...args, secrets: { ...secrets } }, messages);
  };
}

function toolRunner(call: Callable): Runner {
  return (row, secrets) => call(row, { secrets: { ...secrets } });
}

function toolOutcome(value: unknown): IsolateOutcome {
  // Serialised here, where a cycle or a BigInt costs one row and not the whole answer.
  return { value: JSON.parse(JSON.stringify(value ?? null) ?? "null") as unknown };
}

async function withDeadline(work: Promise<unknown>, timeoutMs: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const deadline = new Promise((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  await Promise.race([work, deadline]);
  clearTimeout(timer);
}

function thrown(error: unknown, code: string): { code: string; message: string; stack?: string } {
  if (!(error instanceof Error)) return { code, message: `it threw ${safeText(error)}` };
  // workerd refuses typed arrays above the memory limit with this RangeError instead of dying.
  const isMemory = error instanceof RangeError && /allocation failed/i.test(error.message);
  return {
    code: isMemory ? "isolate_out_of_memory" : code,
    message: `it threw ${error.name}: ${error.message}`.slice(0, 2_000),
    stack: error.stack?.slice(0, 4_000) ?? "",
  };
}

function safeText(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, 500);
  } catch {
    return typeof value;
  }
}
