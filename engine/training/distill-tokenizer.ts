import { SpotterError } from "../../sdk/schema/errors.ts";
import type { PromptCodec } from "./text.ts";

/** Writing that tokenizers tell apart: cases, digits, code, spaces, accents, and scripts of several bytes a letter. */
const PROBE =
  "The quick brown Fox's 1234567890 + 3.14159 != 42;\n\tfor (let i = 0; i < n; i++) { sum += values[i]; }\n\n" +
  "Ünïcödé naïve façade, “quotes” — Привет мир, 你好世界, こんにちは, 안녕하세요, مرحبا 🙂🚀 <think></think>   end";

/**
 * Whether the teacher reads texts as the same tokens. Grades of other tokens would teach nonsense, without an error
 * anywhere.
 *
 * @param read a text as the teacher's tokens, which may begin with one that begins every text
 * @throws SpotterError `tokenizer_mismatch`
 */
export async function checkTokenizer(
  codec: Pick<PromptCodec, "textIds">,
  read: (text: string) => Promise<number[]>,
): Promise<void> {
  const own = codec.textIds(PROBE);
  const others = await read(PROBE);
  const begun = others.length - own.length;
  const isSame = begun >= 0 && begun <= 1 && own.every((id, index) => others[index + begun] === id);
  if (isSame) return;
  throw new SpotterError(
    "tokenizer_mismatch",
    `The teacher has another tokenizer than the student: it reads a text of ${own.length} tokens as ${others.length}${others.length === own.length ? " others" : ""}.`,
    {
      where: "teacher",
      hint: "Take a teacher of the student's family: its grades are of the student's own tokens.",
    },
  );
}
