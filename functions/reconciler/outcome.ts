/** How runs and evals end, and the change of their state tables that this is. */
export const OUTCOME_CHANGES = { succeeded: "succeed", failed: "fail", cancelled: "cancel" } as const;

export type Outcome = keyof typeof OUTCOME_CHANGES;
