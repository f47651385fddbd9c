import { describe, expect, it } from "vitest";
import { createTeacher } from "../../../engine/training/distill-teacher.ts";
import { checkTokenizer } from "../../../engine/training/distill-tokenizer.ts";
import type { JobTeacherReply, TeacherQuestion } from "../../../sdk/schema/job-teacher.ts";

const { signal } = new AbortController();

/** A teacher that is played by `reply`, in a time that passes only while it is waited for. */
function played(reply: (question: TeacherQuestion, nth: number) => JobTeacherReply) {
  const questions: TeacherQuestion[] = [];
  const told: string[] = [];
  let now = 0;
  let waits = 0;
  const teacher = createTeacher({
    client: { askTeacher: async (question) => reply(question, questions.push(question)) },
    log: { info: (message) => void told.push(message) },
    onWait: () => void waits++,
    pace: { now: () => now, random: () => 0, sleep: async (ms) => void (now += ms) },
    patienceMs: 5_000,
  });
  return { teacher, questions, told, waits: () => waits };
}

const graded = (question: TeacherQuestion): JobTeacherReply => ({
  sequences:
    question.kind === "score"
      ? question.sequences.map((ids) => ({ ids, logprobs: ids.map((id) => -id) }))
      : [],
});

describe("a teacher", () => {
  it("is waited for while it comes up, and says why once", async () => {
    const { teacher, told, waits } = played((question, nth) =>
      nth <= 3 ? { waiting: 'Endpoint "sage" is still starting.' } : graded(question),
    );
    expect(await teacher.score([[1, 2]], signal)).toEqual([[-1, -2]]);
    expect(told).toEqual(['The teacher: Endpoint "sage" is still starting.']);
    expect(waits()).toBe(3);
  });

  it("that never comes ends the run with its reason", async () => {
    const { teacher, waits } = played(() => ({ waiting: "no room" }));
    await expect(teacher.score([[1]], signal)).rejects.toMatchObject({
      code: "teacher_failed",
      message: expect.stringContaining("no room") as string,
    });
    expect(waits()).toBe(10);
  });

  it("is asked in parts that fit, and its grades come in order", async () => {
    const { teacher, questions } = played(graded);
    const sequences = Array.from({ length: 70 }, (_, index) => [index, index + 1]);
    const long = Array.from({ length: 9_000 }, () => 7);
    const grades = await teacher.score([...sequences, long, [3]], signal);
    expect(grades.slice(0, 70)).toEqual(sequences.map((ids) => ids.map((id) => -id)));
    expect(grades.slice(70).map(({ length }) => length)).toEqual([9_000, 1]);
    const sizes = questions.map((each) => (each.kind === "score" ? each.sequences.length : 0));
    expect(sizes.sort((a, b) => b - a)).toEqual([64, 6, 1, 1]);
  });

  it("answers each part with a seed of its own, within the room that its prompts leave", async () => {
    const { teacher, questions } = played((question) => ({
      sequences: question.kind === "answer" ? question.prompts.map((ids) => ({ ids, logprobs: [] })) : [],
    }));
    const settings = { maxTokens: 100, contextTokens: 120, temperature: 1, topP: 1, topK: 0, seed: 5 };
    const prompts = Array.from({ length: 65 }, (_, index) => (index === 0 ? Array<number>(90).fill(1) : [2]));
    expect(await teacher.answer(prompts, settings, signal)).toHaveLength(65);
    const asked = questions.flatMap((each) => (each.kind === "answer" ? [each] : []));
    expect(asked.map(({ maxTokens }) => maxTokens)).toEqual([30, 100]);
    expect(new Set(asked.map(({ seed }) => seed)).size).toBe(2);
  });

  it.each([
    [{ sequences: [] }, "1 texts and graded 0"],
    [{ sequences: [{ ids: [1], logprobs: [0] }] }, "2 tokens and graded 1"],
  ])("that grades less than it was asked teaches nothing", async (reply, message) => {
    const { teacher } = played(() => reply);
    await expect(teacher.score([[1, 2]], signal)).rejects.toThrow(message);
  });
});

describe("the tokenizer of a teacher", () => {
  const codec = { textIds: (text: string) => [...text].map((each) => each.codePointAt(0) ?? 0) };

  it("may begin texts with a token of its own, and differs in nothing else", async () => {
    await checkTokenizer(codec, async (text) => codec.textIds(text));
    await checkTokenizer(codec, async (text) => [1, ...codec.textIds(text)]);
    const other = checkTokenizer(codec, async (text) =>
      codec.textIds(text).map((id) => (id === 32 ? 95 : id)),
    );
    await expect(other).rejects.toMatchObject({ code: "tokenizer_mismatch" });
    const shorter = checkTokenizer(codec, async (text) => codec.textIds(text).slice(1));
    await expect(shorter).rejects.toMatchObject({ code: "tokenizer_mismatch" });
  });
});
