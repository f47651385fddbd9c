import type { ChatMessage, ParsedResponse } from "./schema/rollout.ts";
import type { Reward } from "./reward.ts";
import type { Tool } from "./tool.ts";
import { checkOptions, define, must } from "./user-code/definition.ts";

type Maybe<T> = T | Promise<T>;

/** What an environment sees after each answer of the model. */
export interface EnvironmentTurn<Row, State> {
  row: Row;
  state: State;
  /** The conversation so far, the answer last. */
  messages: ChatMessage[];
  response: ParsedResponse;
}

export interface EnvironmentSpec<Row = Record<string, unknown>, State = unknown> {
  /** One line for tables and reports. */
  description?: string;
  /** The tasks: one row per episode to play. `args` come from the config. */
  load(args: Record<string, unknown>): Maybe<Iterable<Row>>;
  /** Begins an episode: the first messages, and the state that is handed from turn to turn. */
  setup(row: Row): Maybe<{ messages: ChatMessage[]; state: State }>;
  /** After each answer: what the world says back, and whether the episode is over. Default: one turn. */
  step?(turn: EnvironmentTurn<Row, State>): Maybe<{ messages?: ChatMessage[]; state?: State; done: boolean }>;
  /** Tools the model may call, by name. */
  tools?: Record<string, Tool<never>>;
  /** Rewards that judge the finished episode, by name. */
  rewards: Record<string, Reward>;
}

/** An environment as `environment` returns it. */
export type Environment<Row = Record<string, unknown>, State = unknown> = Readonly<
  EnvironmentSpec<Row, State>
>;

/**
 * Describes an environment: tasks, how an episode begins and goes on, and how it is judged.
 *
 * @throws TypeError if a part is missing, unknown or has the wrong type.
 * @example
 * // environment.ts
 * import { environment, reward } from "spotter";
 *
 * export const guess = environment<{ secret: number }, { tries: number }>({
 *   load: () => [{ secret: 3 }, { secret: 7 }],
 *   setup: () => ({ messages: [{ role: "user", content: "Guess a number, 1 to 9." }], state: { tries: 0 } }),
 *   step: ({ row, state, response }) => {
 *     if (Number(response.content) === row.secret) return { done: true };
 *     const state2 = { tries: state.tries + 1 };
 *     return { done: state2.tries === 3, state: state2, messages: [{ role: "user", content: "No. Again." }] };
 *   },
 *   rewards: { hit: reward(({ row, response }) => (Number(response.content) === row.secret ? 1 : 0)) },
 * });
 */
export function environment<Row = Record<string, unknown>, State = unknown>(
  spec: EnvironmentSpec<Row, State>,
): Environment<Row, State> {
  checkOptions("environment", spec, {
    description: must.beText,
    load: must.beFunction,
    setup: must.beFunction,
    step: must.beFunction,
    tools: beRecord,
    rewards: beRecord,
  });
  const missing = (["load", "setup", "rewards"] as const).filter((part) => spec[part] === undefined);
  if (missing.length > 0) throw new TypeError(`environment: ${missing.join(", ")} missing`);
  if (Object.keys(spec.rewards).length === 0) throw new TypeError("environment: rewards is empty");
  const { description } = spec;
  return define({ ...spec }, { kind: "environment", ...(description === undefined ? {} : { description }) });
}

function beRecord(value: unknown): string | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? undefined
    : "must be an object";
}
