import { bootstrapMean } from "../../sdk/schema/bootstrap.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { EvalRecord } from "../../sdk/schema/eval.ts";
import type { EvalRow } from "../../sdk/schema/eval-row.ts";
import type { Compared, EvalComparison } from "../../sdk/schema/eval-comparison.ts";
import { type PassAt, sampleGroups } from "../../sdk/schema/pass-at.ts";
import type { Control } from "../control.ts";
import { getOwnEval, readEvalRows } from "./records.ts";
import { isIn, passValues, totalsByRow } from "./scores.ts";

interface Side {
  record: EvalRecord;
  rows: readonly EvalRow[];
}

/** Values of rows, by row. */
type Values = ReadonlyMap<number, number>;

/**
 * How much better the second of two evals is, on the rows that both judged.
 *
 * @throws SpotterError `not_found`; `invalid_input` for evals of other rows, or without a row that both judged.
 */
export async function compareEvals(control: Control, first: string, second: string): Promise<EvalComparison> {
  const [a, b] = await Promise.all([first, second].map((id) => sideOf(control, id)));
  if (a === undefined || b === undefined) throw new RangeError("There are two sides.");
  return comparison(a, b);
}

async function sideOf(control: Control, id: string): Promise<Side> {
  const document = await getOwnEval(control, id);
  return { record: document.record, rows: await readEvalRows(control, document) };
}

export function comparison(a: Side, b: Side): EvalComparison {
  if (a.record.spec.dataset.sha256 !== b.record.spec.dataset.sha256) throw otherRows(a, b);
  const { seed } = a.record.spec;
  const pair = (first: Values, second: Values) => paired(first, second, seed);
  const [totalsA, totalsB] = [meansOf(a), meansOf(b)];
  const score = pair(totalsA, totalsB);
  if (score === undefined) throw nothingCommon(a, b);
  const sides = [...totalsA].flatMap(([row, value]) => {
    const other = totalsB.get(row);
    return other === undefined ? [] : [Math.sign(other - value)];
  });
  return {
    first: a.record.id,
    second: b.record.id,
    rows: sides.length,
    better: sides.filter((sign) => sign > 0).length,
    worse: sides.filter((sign) => sign < 0).length,
    same: sides.filter((sign) => sign === 0).length,
    score,
    scores: eachCommon(namesOf(a), namesOf(b), (name) => pair(meansOf(a, name), meansOf(b, name))),
    passes: eachCommon(ksOf(a), ksOf(b), (k) => pair(passesOf(a, Number(k)), passesOf(b, Number(k)))),
    notes: notesOn(a.record, b.record),
  };
}

/** Differences of the rows that both have, drawn with replacement: what makes a row hard cancels out. */
function paired(first: Values, second: Values, seed: number): Compared | undefined {
  const common = [...first].flatMap(([cluster, value]) => {
    const other = second.get(cluster);
    return other === undefined ? [] : [{ cluster, first: value, second: other }];
  });
  const difference = bootstrapMean(
    common.map(({ cluster, first: before, second: after }) => ({ cluster, value: after - before })),
    seed,
  );
  if (difference === undefined) return undefined;
  return {
    first: meanOf(common.map((each) => each.first)),
    second: meanOf(common.map((each) => each.second)),
    difference,
  };
}

/** Mean over the answers of each row: of the totals, or of one reward. */
function meansOf({ record: { spec }, rows }: Side, reward?: string): Values {
  const [group] = sampleGroups(spec);
  const own = group === undefined ? rows : rows.filter((row) => isIn(group, row));
  const byRow = Map.groupBy(own, ({ row }) => row);
  return new Map(
    [...byRow].flatMap(([row, answers]) => {
      const values = answers.flatMap(({ verdict: { total, scores } }) => {
        if (reward === undefined) return total ?? [];
        return Object.hasOwn(scores, reward) ? (scores[reward]?.score ?? []) : [];
      });
      return values.length === 0 ? [] : [[row, meanOf(values)] as const];
    }),
  );
}

function passesOf({ record: { spec }, rows }: Side, k: number): Values {
  const group = sampleGroups(spec).find(({ ks }) => ks.includes(k));
  const own = group === undefined ? [] : rows.filter((row) => isIn(group, row));
  const values = passValues(totalsByRow(own), k, spec.passThreshold);
  return new Map(values.map(({ cluster, value }) => [cluster, value]));
}

function eachCommon(
  first: readonly string[],
  second: readonly string[],
  compare: (name: string) => Compared | undefined,
): Record<string, Compared> {
  return Object.fromEntries(
    first
      .filter((name) => second.includes(name))
      .flatMap((name) => {
        const compared = compare(name);
        return compared === undefined ? [] : [[name, compared] as const];
      }),
  );
}

function namesOf({ rows }: Side): string[] {
  return [...new Set(rows.flatMap(({ verdict }) => Object.keys(verdict.scores)))].sort();
}

function ksOf({ record }: Side): string[] {
  return record.spec.passAt.map(({ k }) => String(k));
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function notesOn({ spec: a, ...first }: EvalRecord, { spec: b, ...second }: EvalRecord): string[] {
  const code = ({ rewards, python }: EvalRecord["spec"]) => (rewards ?? python)?.code.sha256;
  const unfinished = [first, second].filter(({ state }) => state !== "succeeded");
  return [
    ...unfinished.map(({ id, state, done, total }) => `${id} is ${state}, with ${done} of ${total} answers.`),
    ...(code(a) === code(b) ? [] : ["They were judged by different rewards."]),
    ...(a.passThreshold === b.passThreshold
      ? []
      : [
          `An answer is right from ${a.passThreshold} on in the first, from ${b.passThreshold} on in the second.`,
        ]),
    ...temperatureNotes(a, b),
    ...(JSON.stringify(a.chatOptions) === JSON.stringify(b.chatOptions)
      ? []
      : ["They were asked with different chat options."]),
  ];
}

/** A k that both measure, each at a temperature of its own. */
function temperatureNotes(a: EvalRecord["spec"], b: EvalRecord["spec"]): string[] {
  const own = ({ temperature }: PassAt) => (temperature === undefined ? "its own" : String(temperature));
  return a.passAt.flatMap((first) => {
    const second = b.passAt.find(({ k }) => k === first.k);
    if (second === undefined || first.temperature === second.temperature) return [];
    return [`pass@${first.k} is at temperature ${own(first)} in the first, ${own(second)} in the second.`];
  });
}

function otherRows(a: Side, b: Side): SpotterError {
  return new SpotterError(
    "invalid_input",
    `${a.record.id} and ${b.record.id} were played on different rows.`,
    {
      where: "dataset",
      hint: "Compare evals of one dataset: launch both with the same rows.",
    },
  );
}

function nothingCommon(a: Side, b: Side): SpotterError {
  return new SpotterError(
    "invalid_input",
    `There is no row that both ${a.record.id} and ${b.record.id} judged.`,
    {
      hint: "Wait until both have ended; `spotter eval get` shows how far they are.",
    },
  );
}
