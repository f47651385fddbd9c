/**
 * Runs inside the isolate, around the user's module: tells what it exports and calls exports over many rows. It uses web standards only, so the same bundle runs in workerd and on Lambda.
 *
 * @module
 */
import { timerMs } from "../schema/timer-ms.ts";
import type { IsolateOutcome, IsolateRequest, UserCodeExport } from "../schema/user-code.ts";
import { capConsole } from "./console.ts";
import { describeExport, memberOf } from "./members.ts";
import { thrown } from "./thrown.ts";

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
    const described = describeExport(name, value);
    if (described) exports.push(described);
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
  const member = memberOf(module, name);
  if (member === undefined) {
    const message = `"${name}" is not an exported reward or tool`;
    return rows.map(() => ({ error: { code: "user_code_invalid", message } }));
  }
  const { kind } = member;
  const outcomes: (IsolateOutcome | undefined)[] = rows.map(() => undefined);
  const all = rows.map(async (row, index) => {
    try {
      outcomes[index] = member.finish(await member.run(row, secrets));
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

async function withDeadline(work: Promise<unknown>, timeoutMs: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const deadline = new Promise((resolve) => {
    timer = setTimeout(resolve, timerMs(timeoutMs));
  });
  await Promise.race([work, deadline]);
  clearTimeout(timer);
}
