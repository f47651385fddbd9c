/**
 * Finds lines of train.jsonl that are plainly fine: rows of which the checks in row-checks.ts would say nothing, told
 * by their bytes and without making objects of them. What is not understood here is no error: it is checked the long
 * way. AssemblyScript, compiled to plain-rows.wasm by the build; plain-rows.ts uses it.
 */
import { answers } from "./messages";
import { row } from "./row";

export { addName } from "./names";
export { keyFrom, keyTo, setKind } from "./row";

/** Where the caller puts the lines: UTF-8, each with a newline behind it. */
export const CHUNK: usize = 0x10000;
const NEWLINE: u8 = 0x0a;

/** Of the lines passed over: how many they are, how many of them are rows, and the assistant's messages in these. */
export let lines: i32 = 0;
export let rows: i32 = 0;
export let answered: i32 = 0;

/** Passes over plain lines; gives where the first other one begins, or `end`. No plain one has more than `most` bytes. */
export function scan(at: usize, end: usize, most: usize): usize {
  lines = 0;
  rows = 0;
  answered = 0;
  while (at < end) {
    if (load<u8>(at) == NEWLINE) at++;
    else {
      const next = row(at);
      if (load<u8>(next) != NEWLINE || next - at > most) break;
      rows++;
      answered += answers;
      at = next + 1;
    }
    lines++;
  }
  return at;
}
