import * as z from "zod/mini";
import { pageQuery } from "../../sdk/schema/common.ts";
import { runState, type Run } from "../../sdk/schema/run.ts";
import type { Control } from "../control.ts";
import type { QueryPage } from "../ports/store.ts";
import { RUNS, shownRun, type RunDocument } from "./records.ts";

export const listQuery = z.extend(pageQuery, {
  state: z.optional(runState),
  /** Only runs with this tag. */
  tag: z.optional(z.string()),
  /** `true`: archived runs, and only those. */
  archived: z.optional(z.enum(["true", "false"])),
});

/** Documents looked at for one answer; a page may be shorter than asked, and then has a `next` as well. */
const MAX_LOOKED_AT = 20_000;

/** Newest first. */
export async function listRuns(
  control: Control,
  { state, tag, archived, ...options }: z.infer<typeof listQuery>,
): Promise<{ items: Run[]; next?: string }> {
  const limit = options.limit ?? 100;
  const items: Run[] = [];
  let after = options.after;
  let lookedAt = 0;
  for (;;) {
    const page = await pageOfRuns(control, state, archived === "true", after, limit - items.length);
    for (const { value } of page.items)
      if (isListed(value, state, tag, archived === "true")) items.push(shownRun(value, control.clock.now()));
    after = page.next;
    lookedAt += page.items.length;
    if (after === undefined || items.length >= limit || lookedAt >= MAX_LOOKED_AT)
      return { items, ...(after !== undefined && { next: after }) };
  }
}

function pageOfRuns(
  control: Control,
  state: Run["state"] | undefined,
  archived: boolean,
  after: string | undefined,
  limit: number,
): Promise<QueryPage<RunDocument>> {
  const options = { after, limit, reverse: true };
  if (archived) return control.store.queryIndex<RunDocument>("archived", RUNS, options);
  if (state !== undefined) return control.store.queryIndex<RunDocument>("run-state", state, options);
  return control.store.query<RunDocument>(RUNS, options);
}

function isListed(
  { run, deletedAtMs }: RunDocument,
  state: Run["state"] | undefined,
  tag: string | undefined,
  archived: boolean,
): boolean {
  if (deletedAtMs !== undefined || (run.archived ?? false) !== archived) return false;
  return (state === undefined || run.state === state) && (tag === undefined || run.tags.includes(tag));
}
