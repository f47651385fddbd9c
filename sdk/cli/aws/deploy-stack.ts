import type { BootstrappedKey } from "../../schema/key-bootstrap.ts";
import { SpotterError } from "../../schema/errors.ts";
import { sleep } from "../../retry.ts";
import { bootstrapKey, type BootstrapKeyParams } from "./bootstrap-key.ts";
import { must, outputsOf, regionOf } from "./pulumi-state.ts";
import type { Pulumi, ShowParams } from "./pulumi.ts";
import { interruptedText, outcomeError, outcomeOf } from "./update-outcome.ts";

export interface UpdateParams extends ShowParams {
  stack: string;
  /** Without it Pulumi shows what it is going to do, and asks. */
  yes: boolean;
  /** Told to people. */
  tell: (text: string) => void;
}

/**
 * Makes the stack if it is new, and keeps its region.
 *
 * @throws SpotterError `conflict` where it is in another one: all of it would be made anew there, without its data.
 */
export async function selectStack(pulumi: Pulumi, stack: string, region: string): Promise<void> {
  await must(pulumi, "stack", "select", "--create", stack);
  const current = await regionOf(pulumi, stack);
  if (current === region) return;
  if (current !== undefined)
    throw new SpotterError("conflict", `The stack ${stack} is in ${current}, and stacks do not move.`, {
      where: "--region",
      hint: `Leave \`--region\` away, or make another one there: \`spotter deploy --stack ${stack}-2 --region ${region}\`.`,
    });
  await must(pulumi, "config", "set", "aws:region", region, "--stack", stack, "--plaintext");
}

/**
 * Brings the stack to what the program says; with `only`, what has these URNs, and nothing else.
 *
 * @throws SpotterError `deploy_failed`: locked, broken off before, or in Pulumi's words.
 */
export async function update(pulumi: Pulumi, params: UpdateParams & { only?: string[] }): Promise<void> {
  const { stack, yes, only = [] } = params;
  const targets = only.flatMap((urn) => ["--target", urn]);
  const args = ["up", "--stack", stack, ...(yes ? ["--yes", "--skip-preview"] : []), ...targets];
  await step(pulumi, args, "The update", params);
}

/**
 * The way out of an update that broke off: takes the lock away, and looks up what really is there. What was being
 * made at that moment is forgotten; if AWS made it all the same, `spotter cleanup --verify` finds it by its tag.
 */
export async function recover(pulumi: Pulumi, params: UpdateParams): Promise<void> {
  const { stack, tell } = params;
  const { code, stderr } = await pulumi.ask("cancel", "--yes", "--stack", stack);
  // Nothing to cancel is what one hopes for.
  tell(
    code === 0
      ? "Took away the lock of the update that broke off."
      : `No lock to take away. ${stderr.trim()}`,
  );
  const args = ["refresh", "--stack", stack, "--yes", "--skip-preview", "--clear-pending-creates"];
  await step(pulumi, args, "Looking up what is there", params);
}

/** Runs one command of Pulumi's that changes something, and reads how it ended. */
export async function step(
  pulumi: Pulumi,
  args: readonly string[],
  doing: string,
  { tell, signal, ...show }: Pick<UpdateParams, "tell" | "signal" | "out" | "err">,
): Promise<void> {
  const finished = await pulumi.show(args, { ...show, signal });
  if (signal.aborted) {
    tell(interruptedText(doing));
    signal.throwIfAborted();
  }
  const outcome = outcomeOf(finished);
  if (outcome !== "done") throw outcomeError(outcome, doing, finished);
}

export interface Address {
  url: string;
  gatewayUrl: string | null;
  keyBootstrapFunction: string | undefined;
}

/** Where the stack answers. */
export async function addressOf(pulumi: Pulumi, stack: string): Promise<Address> {
  const { url, gatewayUrl = null, keyBootstrapFunction } = await outputsOf(pulumi, stack);
  if (url !== undefined) return { url, gatewayUrl, keyBootstrapFunction };
  throw new SpotterError("deploy_failed", `The stack ${stack} tells no url: its update did not finish.`, {
    where: "url",
    hint: "`spotter deploy --recover` goes on with it.",
  });
}

/** A name that is new is known everywhere within some minutes. */
const ANSWER_MS = 120_000;
const ASK_EVERY_MS = 3_000;
const PATIENCE_MS = 10_000;

/** Whether the stack answers whoever asks, within two minutes. */
export async function doesAnswer(url: string, signal: AbortSignal): Promise<boolean> {
  for (let waitedMs = 0; ; waitedMs += ASK_EVERY_MS) {
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
    const response = await fetch(`${url}/health`, { signal: timeout }).catch(() => undefined);
    await response?.body?.cancel();
    signal.throwIfAborted();
    if (response?.ok === true) return true;
    if (waitedMs >= ANSWER_MS) return false;
    await sleep(ASK_EVERY_MS, signal);
  }
}

/** The first key of a stack; null: it has one already. */
export async function firstKey(params: BootstrapKeyParams): Promise<BootstrappedKey | null> {
  try {
    return await bootstrapKey(params);
  } catch (error) {
    if (SpotterError.is(error) && error.code === "conflict") return null;
    throw error;
  }
}
