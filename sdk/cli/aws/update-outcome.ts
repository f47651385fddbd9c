import { SpotterError } from "../../schema/errors.ts";
import type { Finished } from "./pulumi.ts";

/** How an update, a refresh or a destruction ended. */
export type Outcome = "done" | "locked" | "pending" | "failed";

/** Pulumi's own words; those of its service and of a state that is kept in a bucket. */
const LOCKED = /currently locked by|\[409\] Conflict: Another update is currently in progress/i;
const PENDING = /pending operations|pending_operations/i;

export function outcomeOf({ code, stdout, stderr }: Finished): Outcome {
  if (code === 0) return "done";
  const said = `${stdout}${stderr}`;
  if (LOCKED.test(said)) return "locked";
  return PENDING.test(said) ? "pending" : "failed";
}

/**
 * What is to be done about it.
 *
 * @param doing In words, such as "The update".
 */
export function outcomeError(
  outcome: Exclude<Outcome, "done">,
  doing: string,
  finished: Finished,
): SpotterError {
  const where = "pulumi";
  if (outcome === "locked")
    return new SpotterError("deploy_failed", `${doing} did not begin: the stack is locked by another one.`, {
      where,
      hint: "Wait until the other one has ended. If it was killed, `spotter deploy --recover` takes the lock away.",
    });
  if (outcome === "pending")
    return new SpotterError(
      "deploy_failed",
      `${doing} did not end: an earlier one broke off in the middle of something.`,
      {
        where,
        hint: "`spotter deploy --recover` compares the state with what there is, and goes on from there.",
      },
    );
  const words = (finished.stderr.trim() || finished.stdout.trim()).split("\n").slice(-5).join("\n");
  // Shown on the terminal, where a person may also have answered no.
  if (words === "")
    return new SpotterError("deploy_failed", `${doing} was not made; Pulumi says why above.`, {
      where,
      hint: "After a no nothing has changed. Otherwise correct what it names and repeat the command; it goes on from there.",
    });
  return new SpotterError("deploy_failed", `${doing} failed (code ${finished.code}): ${words}`, {
    where,
    hint: "Correct what Pulumi names and repeat the command; it goes on from where it stopped.",
  });
}

/** Told when Ctrl-C ended an update: what the state may be like, and the way out. */
export function interruptedText(doing: string): string {
  return (
    `${doing} was interrupted. What had begun may be there or not: \`spotter deploy --recover\` finds out ` +
    "(pulumi cancel, pulumi refresh, pulumi up) and goes on. Nothing else is needed."
  );
}
