import { SpotterError } from "../../sdk/schema/errors.ts";
import type { ModelRef } from "../../sdk/schema/model.ts";
import { checkpointPrefix, getCheckpoint } from "../checkpoints/records.ts";
import type { Control } from "../control.ts";
import { findManifest, modelBlob } from "../models/models.ts";

/** Which weights somebody has. */
export interface Weights {
  model: ModelRef;
  checkpoint?: string | undefined;
}

const FILE = "tokenizer.json";

/**
 * Refuses weights whose tokenizers differ, as far as can be told from what is stored here. Of the shipped models and
 * of folders the container finds out, before its first step.
 *
 * @throws SpotterError `tokenizer_mismatch`
 */
export async function checkTokenizers(control: Control, student: Weights, teacher: Weights): Promise<void> {
  if (student.model.name === teacher.model.name && student.model.revision === teacher.model.revision) return;
  const [own, other] = await Promise.all([findTokenizer(control, student), findTokenizer(control, teacher)]);
  if (own === undefined || other === undefined || own.sha256 === other.sha256) return;
  const [mine, theirs] = await Promise.all([vocabularyOf(control, own), vocabularyOf(control, other)]);
  const differing = mine && theirs && difference(mine, theirs);
  if (differing === undefined) return;
  throw new SpotterError(
    "tokenizer_mismatch",
    `${teacher.model.name} has another tokenizer than ${student.model.name}: ${differing}.`,
    {
      where: "teacher",
      hint: "Take a teacher of the student's family: its grades are of the student's own tokens.",
    },
  );
}

interface StoredTokenizer {
  blob: string;
  sha256: string;
}

/** Training changes no tokenizer, so that of an adapter is its base model's. */
async function findTokenizer(
  control: Control,
  { model, checkpoint }: Weights,
): Promise<StoredTokenizer | undefined> {
  if (checkpoint !== undefined) {
    const { files, runId, step, attempt } = await getCheckpoint(control, checkpoint);
    const path = `model/${FILE}`;
    const file = files.find((each) => each.path === path);
    if (file) return { blob: `${checkpointPrefix(runId, step, attempt)}/${path}`, sha256: file.sha256 };
  }
  const { revision } = model;
  const manifest = revision === undefined ? undefined : await findManifest(control, revision);
  const file = manifest?.files.find(({ path }) => path === FILE);
  if (revision === undefined || file === undefined) return undefined;
  return { blob: modelBlob(revision, FILE), sha256: file.sha256 };
}

type Vocabulary = Map<string, number>;

/** Every token with its id; undefined where the file is not of a kind that says so. */
async function vocabularyOf(control: Control, { blob }: StoredTokenizer): Promise<Vocabulary | undefined> {
  const bytes = await control.blobs.bytes(blob);
  if (bytes === undefined) return undefined;
  const { model, added_tokens: added = [] } = JSON.parse(new TextDecoder().decode(bytes)) as {
    model?: { vocab?: Record<string, number> | [string, number][] };
    added_tokens?: { id: number; content: string }[];
  };
  const { vocab } = model ?? {};
  if (vocab === undefined) return undefined;
  const tokens = Array.isArray(vocab)
    ? vocab.map(([token], id) => [token, id] as const)
    : Object.entries(vocab);
  return new Map([...tokens, ...added.map(({ content, id }) => [content, id] as const)]);
}

/**
 * What the student may write and the teacher reads as something else, in words. Further tokens of the teacher do no
 * harm.
 *
 * @example
 * difference(new Map([["a", 0]]), new Map([["a", 1]])); // '1 of 1 tokens have other ids, the first is "a"'
 */
export function difference(student: Vocabulary, teacher: Vocabulary): string | undefined {
  const other = [...student].filter(([token, id]) => teacher.get(token) !== id);
  const [first] = other;
  if (first === undefined) return undefined;
  return `${other.length} of ${student.size} tokens have other ids, the first is ${JSON.stringify(first[0])}`;
}
