import type { Rollout } from "../../config/project-folder/play/play-project.ts";
import {
  cannotTell,
  type RewardsReport,
  type Scores,
} from "../../config/project-folder/play/rewards-only.ts";
import type { Summary } from "../../config/project-folder/play/statistics.ts";
import type { Colors } from "../context.ts";
import { table } from "../render/table.ts";
import { oneLine } from "../render/visible.ts";

/** How one rollout went, and where it is. */
export function rolloutLines(rollout: Rollout, file: string | undefined, colors: Colors): string[] {
  const { green, red, yellow, dim } = colors;
  const { number, entry, verdict, failure, conversation } = rollout;
  const where = file === undefined ? "" : dim(`  → ${file}`);
  const head = `Rollout ${number} (row ${entry.index}):`;
  if (failure) {
    const hint = failure.hint === undefined ? [] : [`    ${oneLine(failure.hint)}`];
    return [`${head} ${red("✗")} ${oneLine(failure.message)} ${dim(`[${failure.code}]`)}${where}`, ...hint];
  }
  const parts = Object.entries(verdict?.scores ?? {}).map(
    ([name, { score }]) => `${name}=${score.toFixed(3)}`,
  );
  const list = parts.length > 0 ? `  [${parts.join(", ")}]` : "";
  const errors = Object.values(verdict?.errors ?? {});
  const remarks = [
    ...errors.map(({ code, message }) => `    ${red("no verdict")} ${oneLine(message)} ${dim(`[${code}]`)}`),
    ...(conversation?.toolErrors ?? []).map((text) => `    ${yellow("tool")} ${oneLine(text)}`),
    ...(conversation?.truncated ? [`    ${yellow("truncated")} there was not room for all of it`] : []),
  ];
  if (errors.length > 0) return [`${head} ${red("✗")} no reward${list}${where}`, ...remarks];
  const reward = verdict?.total === undefined ? "answered" : `reward=${verdict.total.toFixed(3)}`;
  return [`${head} ${green("✓")} ${reward}${list}${where}`, ...remarks];
}

/** The whole conversation, message by message. */
export function conversationLines({ entry, conversation }: Rollout, { bold, dim }: Colors): string[] {
  const messages = conversation?.messages ?? entry.row.prompt;
  return messages.flatMap((message) => {
    const {
      role,
      content,
      reasoning_content: thinking,
      tool_calls: calls,
    } = message as Record<string, unknown>;
    return [
      `  ${bold(String(role))}`,
      ...(typeof thinking === "string" ? indented(thinking).map((line) => dim(line)) : []),
      ...(content === "" || content === null || content === undefined ? [] : indented(contentText(content))),
      ...(Array.isArray(calls) ? calls.map((call) => `    ${dim("calls")} ${callText(call)}`) : []),
    ];
  });
}

/** Of a message in parts the texts; an image is only named. */
function contentText(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === "string" ? content : JSON.stringify(content);
  return content
    .map((part: unknown) => {
      const { type, text } = part as { type?: unknown; text?: unknown };
      return typeof text === "string" ? text : `[${String(type)}]`;
    })
    .join("\n");
}

function callText(call: unknown): string {
  const { function: called } = call as { function?: { name?: unknown; arguments?: unknown } };
  return `${String(called?.name)}(${String(called?.arguments)})`;
}

function indented(text: string): string[] {
  return text.split("\n").map((line) => `    ${line}`);
}

/** What all rollouts come to. */
export function summaryLines(summary: Summary, isJudged: boolean, { bold, red, yellow }: Colors): string[] {
  const { rollouts, failed, invalid, mean, standardDeviation: deviation, passAt, threshold } = summary;
  const counts = [
    `${rollouts} rollout${rollouts === 1 ? "" : "s"}`,
    ...(failed > 0 ? [red(`${failed} failed`)] : []),
    ...(invalid > 0 ? [red(`${invalid} without a verdict`)] : []),
  ];
  const lines = ["", counts.join(", ")];
  if (!isJudged) return [...lines, "Nothing judges: projects of this dataset_type have no rewards."];
  if (mean === null) return lines;
  const spread = deviation === null ? "" : `, standard deviation ${deviation.toFixed(3)}`;
  lines.push(`${bold("Mean reward")} ${mean.toFixed(3)}${spread}`);
  const passes = Object.entries(passAt).map(([k, value]) => `pass@${k} ${(100 * value).toFixed(1)}%`);
  lines.push(`${passes.join(", ")} (right: a reward of ${threshold} or more)`);
  if (summary.zeroVarianceGroups > 0)
    lines.push(
      yellow(
        `${summary.zeroVarianceGroups} of ${summary.groups} rows got the same reward each time: training learns nothing from them.`,
      ),
    );
  return lines;
}

/** What every reward gave without a model. */
export function rewardsLines(report: RewardsReport, { bold, red, yellow, dim }: Colors): string[] {
  const { rows, rowsWithAnswer, rewards } = report;
  const head = `${bold(String(rows))} rows, ${rowsWithAnswer} with an expected answer`;
  if (rewards.length === 0) return [head, "Nothing judges: projects of this dataset_type have no rewards."];
  const body = rewards.map((each) => [
    each.name,
    scoresText(each.expected),
    scoresText(each.empty),
    each.invalid === 0 ? "0" : red(String(each.invalid)),
  ]);
  const remarks = rewards.flatMap((each) => [
    ...(each.firstError
      ? [
          `${red("no verdict")} row ${each.firstError.entry}, ${each.firstError.answer} answer: ` +
            `${oneLine(each.firstError.message)} ${dim(`[${each.firstError.code}]`)}`,
        ]
      : []),
    ...(cannotTell(each) ? [yellow(`${each.name} gives the expected answers no more than empty ones.`)] : []),
  ]);
  return [head, "", ...table(["REWARD", "EXPECTED ANSWER", "EMPTY ANSWER", "NO VERDICT"], body), ...remarks];
}

function scoresText(scores: Scores | null): string {
  if (scores === null) return "";
  const { mean, min, max } = scores;
  return min === max ? mean.toFixed(3) : `${mean.toFixed(3)} (${min.toFixed(3)} to ${max.toFixed(3)})`;
}
