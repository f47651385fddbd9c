import { stripVTControlCharacters } from "node:util";

/** Control characters, line and paragraph separators, and what turns the direction of text around. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;
const CONTROLS_BUT_BREAKS = /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;
const ESCAPE = "\u001b";
/** The colours that this program writes itself: they take no place and move no cursor. */
const COLOUR = new RegExp(`(${ESCAPE}\\[(?:[0-3]|2[2-9]|3\\d|9\\d)m)`);
const COLOUR_END = new RegExp(`^${ESCAPE}\\[(?:0|22|23|39)m$`);

const WIDE =
  /\p{Emoji_Presentation}|\uFE0F|[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]|[\u{20000}-\u{3FFFD}]/u;

/** Text that others wrote, on one line: no sequence in it reaches the terminal, no line break forges a line. */
export function oneLine(text: string): string {
  return stripVTControlCharacters(text).replaceAll(CONTROLS, escaped);
}

/** The same where several lines are meant: messages and logs. */
export function printable(text: string): string {
  return stripVTControlCharacters(text.replaceAll("\r\n", "\n")).replaceAll(CONTROLS_BUT_BREAKS, escaped);
}

/** {@link printable}, but with our own colours, which end with the text: for whole lines that we compose. */
export function composed(text: string): string {
  return withColours(text, printable);
}

/** JSON that means the same, without the characters that a terminal would act upon. */
export function plainJson(value: unknown): string {
  return (JSON.stringify(value) ?? "null").replaceAll(CONTROLS, escaped);
}

/** A cell of a table, at most `width` columns: {@link oneLine}, but with our own colours, which end with it. */
export function cellText(text: string, width: number): string {
  const shown = withColours(text, oneLine);
  return widthOf(shown) > width ? cut(stripVTControlCharacters(shown), width) : shown;
}

function withColours(text: string, textOf: (part: string) => string): string {
  const parts = text.split(COLOUR);
  const shown = parts.map((part, index) => (index % 2 === 1 ? part : textOf(part)));
  const last = parts.at(-2);
  return shown.join("") + (last === undefined || COLOUR_END.test(last) ? "" : `${ESCAPE}[0m`);
}

/** Columns that a terminal takes for it. */
export function widthOf(text: string): number {
  const plain = stripVTControlCharacters(text);
  if (/^[ -~]*$/.test(plain)) return plain.length;
  return graphemes(plain).reduce((sum, each) => sum + columnsOf(each), 0);
}

function cut(text: string, width: number): string {
  let left = width - 1;
  const kept = graphemes(text).filter((each) => (left -= columnsOf(each)) >= 0);
  return `${kept.join("")}…`;
}

function graphemes(text: string): string[] {
  return [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment);
}

function columnsOf(grapheme: string): number {
  if (WIDE.test(grapheme)) return 2;
  return /^[\p{M}\p{Cf}]+$/u.test(grapheme) ? 0 : 1;
}

function escaped(character: string): string {
  if (character === "\n") return "\\n";
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
