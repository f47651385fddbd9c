import type { Secrets } from "../../ports/secrets.ts";
import { SsmSecrets } from "../ssm-secrets.ts";
import { adapter } from "./adapter.ts";

/** Secrets that learn, when asked, what to hide in text that other processes caused. */
export interface LearningSecrets extends Secrets {
  learn(): Promise<void>;
}

/** Secrets as encrypted parameters of the stack. */
export const secrets = adapter<LearningSecrets, Record<never, never>>({
  variables: {},
  open: (_own, { settings, clock }) => new SsmSecrets({ stack: settings.SPOTTER_STACK, clock }),
});
