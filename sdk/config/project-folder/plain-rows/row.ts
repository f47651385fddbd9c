import { CLOSE_OBJECT, colon, COMMA, OPEN_OBJECT, QUOTE, space, text, value, word } from "./json";
import { messages } from "./messages";
import { find, list, maskOf, masks, named, NEEDED, OTHERS, REWARDS, TOOLS } from "./names";

// Keys, as they are loaded: the first letter is the lowest byte. Where there is room, with the quote behind them.
const KEY_MESSAGES: u64 = 0x73_65_67_61_73_73_65_6d;
const KEY_METADATA: u64 = 0x61_74_61_64_61_74_65_6d;
const KEY_REWARDS: u64 = 0x22_73_64_72_61_77_65_72;
const KEY_TOOLS: u64 = 0x22_73_6c_6f_6f_74;
const KEY_TEXT: u64 = 0x22_74_78_65_74;
const EXPECTED: u64 = 0x64_65_74_63_65_70_78_65;
const _ANSWER: u64 = 0x22_72_65_77_73_6e_61_5f;
const FIVE: u64 = 0xff_ff_ff_ff_ff;
const SIX: u64 = 0xff_ff_ff_ff_ff_ff;

/** What a row has, as bits. */
const HAS_MESSAGES: i32 = 1;
const HAS_REWARDS: i32 = 2;
const HAS_TOOLS: i32 = 4;
const HAS_TEXT: i32 = 8;
const HAS_METADATA: i32 = 16;

/** What every row must have. */
let required: i32 = 0;
/** Conversations are learnt, or texts, or neither. */
let isSft: bool = false;
let isMidtrain: bool = false;
/** Answers are compared as mathematics. */
let isMath: bool = false;

export function setKind(bits: i32, sft: bool, midtrain: bool, math: bool): void {
  required = bits;
  isSft = sft;
  isMidtrain = midtrain;
  isMath = math;
}

/** The key that the last row was not passed over for, and the end of its quote: none of those known here. 0: no key. */
export let keyFrom: usize = 0;
export let keyTo: usize = 0;

let needed: u32 = 0;
let present: u32 = 0;

/** After a row that every check is content with. */
export function row(at: usize): usize {
  if (load<u8>(at) != OPEN_OBJECT) return 0;
  at = space(at + 1);
  let has = 0;
  keyFrom = 0;
  needed = 0;
  present = 0;
  while (true) {
    if (load<u8>(at++) != QUOTE) return 0;
    const bit = keyAt(at);
    if ((has & bit) != 0) return 0;
    has |= bit;
    at = member(at, bit);
    at = space(at);
    const next = load<u8>(at++);
    if (next == COMMA) at = space(at);
    else {
      const isWhole = (has & required) == required && (needed & ~present) == 0;
      return next == CLOSE_OBJECT && isWhole ? space(at) : 0;
    }
  }
}

/** The bit of the key there; 0: it is another one. */
function keyAt(at: usize): i32 {
  const key = load<u64>(at);
  if (key == KEY_MESSAGES) return load<u8>(at + 8) == QUOTE ? HAS_MESSAGES : 0;
  if (key == KEY_METADATA) return load<u8>(at + 8) == QUOTE ? HAS_METADATA : 0;
  if (key == KEY_REWARDS) return HAS_REWARDS;
  if ((key & SIX) == KEY_TOOLS) return HAS_TOOLS;
  return (key & FIVE) == KEY_TEXT ? HAS_TEXT : 0;
}

/** After a key and its value. */
function member(at: usize, bit: i32): usize {
  switch (bit) {
    case HAS_MESSAGES:
      return messages(colon(at + 9), isSft);
    case HAS_REWARDS:
      at = list(REWARDS, colon(at + 8));
      needed = masks;
      return named == 0 ? 0 : at;
    case HAS_TOOLS:
      return list(TOOLS, colon(at + 6));
    case HAS_TEXT:
      at = colon(at + 5);
      return isMidtrain ? filled(at) : value(at);
    case HAS_METADATA:
      return metadata(colon(at + 9));
    default:
      return other(at);
  }
}

/** After a text that is not empty. */
function filled(at: usize): usize {
  return load<u8>(at) == QUOTE && load<u8>(at + 1) != QUOTE ? text(at + 1) : 0;
}

/** After a key that nothing reads, and its value. */
function other(at: usize): usize {
  const end = word(at);
  if (end == 0) return 0;
  if (find(OTHERS, at) >= 0) return value(colon(end));
  keyFrom = at;
  keyTo = end;
  return 0;
}

/** After an object; which keys that rewards need it has is in `present`. */
function metadata(at: usize): usize {
  if (load<u8>(at) != OPEN_OBJECT) return 0;
  at = space(at + 1);
  if (load<u8>(at) == CLOSE_OBJECT) return at + 1;
  while (true) {
    if (load<u8>(at++) != QUOTE) return 0;
    const index = find(NEEDED, at);
    if (index >= 0) present |= maskOf(NEEDED, index);
    const isAnswer = load<u64>(at) == EXPECTED && load<u64>(at + 8) == _ANSWER;
    at = colon(isAnswer ? at + 16 : word(at));
    at = isAnswer ? answer(at) : value(at);
    at = space(at);
    const next = load<u8>(at++);
    if (next == COMMA) at = space(at);
    else return next == CLOSE_OBJECT ? at : 0;
  }
}

/** After an expected_answer: null is no answer, and a backslash may be LaTeX's. */
function answer(at: usize): usize {
  const first = load<u8>(at);
  if (first == 0x6e) return 0;
  if (isMath && first == QUOTE) return word(at + 1);
  return value(at);
}
