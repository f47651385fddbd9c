import type { ChatMessage, Rollout, Verdict } from "../../../sdk/schema/rollout.ts";

/** A rollout as people read it: without token ids, probabilities and masks. */
export interface ShownRollout {
  index: number;
  group: number;
  messages: { role: string; content: string }[];
  /** The answer; of a conversation, the last. */
  text: string;
  finishReason: string;
  environment?: string;
  /** Answers of a conversation; absent: one. */
  turns?: number;
  truncated?: boolean;
  /** Tokens that the model sampled. */
  tokens: number;
  verdict: Verdict;
  advantage?: number;
}

export interface ShownRollouts {
  step: number;
  rollouts: ShownRollout[];
}

const MAX_OFFERED = 200;

export const SORTS = { best: "best first", worst: "worst first", sampled: "as sampled" } as const;
export type Sort = keyof typeof SORTS;

export interface RolloutChoice {
  sort: Sort;
  /** Inclusive; undefined: no limit. Rollouts without a verdict pass only where there is no limit. */
  min?: number | undefined;
  max?: number | undefined;
}

export function shownRollout(rollout: Rollout): ShownRollout {
  return {
    index: rollout.index,
    group: rollout.group,
    messages: rollout.messages.map((message) => ({
      role: typeof message["name"] === "string" ? `${message.role} ${message["name"]}` : message.role,
      content: contentText(message),
    })),
    text: isConversation(rollout) ? lastAnswer(rollout) : rollout.text,
    finishReason: rollout.finishReason,
    ...(rollout.environment !== undefined && { environment: rollout.environment }),
    ...(rollout.turns !== undefined && { turns: rollout.turns }),
    ...(rollout.truncated && { truncated: true }),
    tokens: [...(rollout.branches ?? []), rollout]
      .flatMap(({ mask }) => mask)
      .reduce((sum, each) => sum + each, 0),
    verdict: rollout.verdict,
    ...(rollout.advantage !== undefined && { advantage: rollout.advantage }),
  };
}

/** Several answers, or one that called tools: its text alone would run together what several said. */
function isConversation({ turns = 1, messages }: Rollout): boolean {
  return turns > 1 || messages.some(({ role }) => role === "tool");
}

function lastAnswer({ messages }: Rollout): string {
  const last = messages.findLast(({ role }) => role === "assistant");
  return last === undefined ? "" : contentText(last);
}

/** Filters and sorts; rollouts without a verdict come last, equal ones in the order they were sampled. */
export function chooseRollouts(rollouts: readonly ShownRollout[], choice: RolloutChoice): ShownRollout[] {
  const { sort, min, max } = choice;
  const kept = rollouts.filter(({ verdict: { total } }) =>
    total === undefined
      ? min === undefined && max === undefined
      : total >= (min ?? -Infinity) && total <= (max ?? Infinity),
  );
  if (sort === "sampled") return kept.sort((a, b) => a.index - b.index);
  const sign = sort === "best" ? -1 : 1;
  return kept.sort((a, b) => {
    const [left, right] = [a.verdict.total, b.verdict.total];
    if (left === undefined || right === undefined)
      return Number(left === undefined) - Number(right === undefined) || a.index - b.index;
    return sign * (left - right) || a.index - b.index;
  });
}

/** Steps to pick from: all, or of very many an even choice that keeps the ends and the current one. */
export function offeredSteps(steps: readonly number[], current: number): number[] {
  const every = Math.ceil(steps.length / MAX_OFFERED);
  const last = steps.length - 1;
  const offered = steps.filter((step, index) => index % every === 0 || index === last || step === current);
  return offered.length === 0 ? [current] : offered;
}

/** Mean, lowest and highest total of a step; undefined where no rollout has a verdict. */
export function summarize(
  rollouts: readonly ShownRollout[],
): { mean: number; low: number; high: number; missing: number } | undefined {
  const totals = rollouts.flatMap(({ verdict: { total } }) => (total === undefined ? [] : [total]));
  if (totals.length === 0) return undefined;
  return {
    mean: totals.reduce((sum, each) => sum + each, 0) / totals.length,
    low: totals.reduce((a, b) => Math.min(a, b)),
    high: totals.reduce((a, b) => Math.max(a, b)),
    missing: rollouts.length - totals.length,
  };
}

/** What was said; calls of tools on lines of their own, as `name(arguments)`. */
function contentText({ content, ...message }: ChatMessage): string {
  const said = typeof content === "string" ? content : content == null ? "" : JSON.stringify(content);
  return [said, ...callsOf(message)].filter((line) => line !== "").join("\n");
}

function callsOf({ tool_calls: calls }: Record<string, unknown>): string[] {
  if (!Array.isArray(calls)) return [];
  return calls.flatMap((call: { function?: { name?: unknown; arguments?: unknown } } | null) => {
    const { name, arguments: given } = call?.function ?? {};
    return typeof name === "string"
      ? [`${name}(${typeof given === "string" ? given : JSON.stringify(given)})`]
      : [];
  });
}
