import { GraphSession, type SessionParams } from "../graph/session.ts";
import { PLAIN, type ObjectiveShape } from "../models/objective.ts";
import type { ParameterSet } from "../models/parameter-set.ts";
import type { Policy } from "../models/policy.ts";
import { trainGraph } from "../models/train-graph.ts";

export interface ObjectiveSessionsParams extends SessionParams {
  maxPositions: number;
  trainable: ParameterSet;
  /** Give the hidden states as well. */
  hidden?: "also";
}

/** One session for each shape of objective that is asked for, made the first time. */
export class ObjectiveSessions {
  readonly #policy: Policy;
  readonly #params: ObjectiveSessionsParams;
  readonly #sessions = new Map<string, Promise<GraphSession>>();

  constructor(policy: Policy, params: ObjectiveSessionsParams) {
    this.#policy = policy;
    this.#params = params;
  }

  /** @param packed rows hold several sequences each */
  of(objective: ObjectiveShape = PLAIN, packed = false): Promise<GraphSession> {
    const key = JSON.stringify([objective, packed]);
    const known = this.#sessions.get(key);
    if (known !== undefined) return known;
    const made = GraphSession.create(
      trainGraph(this.#policy, { ...this.#params, objective, packed }),
      this.#params,
    );
    this.#sessions.set(key, made);
    return made;
  }

  async close(): Promise<void> {
    for (const session of this.#sessions.values()) await (await session).close();
  }
}
