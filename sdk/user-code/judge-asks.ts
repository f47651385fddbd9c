import type { Judge } from "../judge.ts";
import type { JudgeAnswers } from "../schema/judge-ask.ts";

/** What a reward wants to know before it can go on: by the text of each question the question. */
export class JudgeAsks {
  readonly asks: Record<string, unknown>;

  constructor(asks: Record<string, unknown>) {
    this.asks = asks;
  }
}

/** The judge of one row: knows the answers that are there, and takes down what is asked besides. */
export function openAsks(answers: JudgeAnswers = {}): { judge: Judge; waiting: () => Promise<JudgeAsks> } {
  let asks: Record<string, unknown> | undefined;
  let tell: (() => void) | undefined;
  let isDue = false;
  const judge: Judge = (params) => {
    const text = JSON.stringify(params) ?? "";
    const answer = Object.hasOwn(answers, text) ? answers[text] : undefined;
    if (answer !== undefined)
      return "error" in answer
        ? Promise.reject(new Error(`judge: ${answer.error}`))
        : Promise.resolve(answer.value as never);
    asks = { ...asks, [text]: params };
    // What is asked at the same time goes along.
    setTimeout(() => {
      isDue = true;
      tell?.();
    }, 0);
    // Until the answer is there this call stands still, and is given up; the reward is run again with it.
    return new Promise(() => {});
  };
  const waiting = () =>
    new Promise<JudgeAsks>((resolve) => {
      tell = () => resolve(new JudgeAsks(asks ?? {}));
      if (isDue) tell();
    });
  return { judge, waiting };
}
