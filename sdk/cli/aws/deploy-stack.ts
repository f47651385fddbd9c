import type { BootstrappedKey } from "../../schema/key-bootstrap.ts";
import { SpotterError } from "../../schema/errors.ts";
import { bootstrapKey } from "./bootstrap-key.ts";
import { must, outputsOf } from "./pulumi-state.ts";
import type { Pulumi, ShowParams } from "./pulumi.ts";
import { interruptedText, outcomeError, outcomeOf } from "./update-outcome.ts";

export interface UpdateParams extends ShowParams {
  stack: string;
  /** Without it Pulumi shows what it is going to do, and asks. */
  yes: boolean;
  /** Told to people. */
  tell: (text: string) => void;
}

/** Makes the stack if it is new, and sets its region where one is given. */
export async function selectStack(pulumi: Pulumi, stack: string, region: string | undefined): Promise<void> {
  await must(pulumi, "stack", "select", "--create", stack);
  if (region !== undefined)
    await must(pulumi, "config", "set", "aws:region", region, "--stack", stack, "--plaintext");
}

/**
 * Brings the stack to what the program says.
 *
 * @throws SpotterError `deploy_failed`: locked, broken off before, or in Pulumi's words.
 */
export async function update(pulumi: Pulumi, params: UpdateParams): Promise<void> {
  const { stack, yes } = params;
  await step(
    pulumi,
    ["up", "--stack", stack, ...(yes ? ["--yes", "--skip-preview"] : [])],
    "The update",
    params,
  );
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

export interface Deployed {
  url: string;
  gatewayUrl: string | null;
  /** Null: the stack has one already. */
  key: BootstrappedKey | null;
}

/** Where the stack answers, with its first key. */
export async function firstUse(pulumi: Pulumi, stack: string, region: string | undefined): Promise<Deployed> {
  const { url, gatewayUrl = null, keyBootstrapFunction: functionName } = await outputsOf(pulumi, stack);
  if (url === undefined)
    throw new SpotterError("deploy_failed", `The stack ${stack} tells no url: its update did not finish.`, {
      where: "url",
      hint: "`spotter deploy --recover` goes on with it.",
    });
  try {
    return { url, gatewayUrl, key: await bootstrapKey({ stack, region, functionName }) };
  } catch (error) {
    if (SpotterError.is(error) && error.code === "conflict") return { url, gatewayUrl, key: null };
    throw error;
  }
}
