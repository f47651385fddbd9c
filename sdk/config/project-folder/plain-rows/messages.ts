import {
  CLOSE_LIST,
  CLOSE_OBJECT,
  colon,
  COMMA,
  content,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
  space,
  value,
  word,
} from "./json";

// Keys and roles with the quote behind them, as they are loaded: the first letter is the lowest byte.
const ROLE: u64 = 0x22_65_6c_6f_72;
const CONTENT: u64 = 0x22_74_6e_65_74_6e_6f_63;
/** The beginning of tool_calls and tool_call_id. */
const TOOL_CAL: u64 = 0x6c_61_63_5f_6c_6f_6f_74;
const USER: u64 = 0x22_72_65_73_75;
const SYSTEM: u64 = 0x22_6d_65_74_73_79_73;
const ASSISTAN: u64 = 0x6e_61_74_73_69_73_73_61;
const _T: u16 = 0x22_74;
const FIVE: u64 = 0xff_ff_ff_ff_ff;
const SEVEN: u64 = 0xff_ff_ff_ff_ff_ff_ff;

const IS_USER: i32 = 1;
const IS_SYSTEM: i32 = 2;
const IS_ASSISTANT: i32 = 3;

/** Whose the message is that was walked over last. */
let role: i32 = 0;
/** The assistant's messages of the conversation that was walked over last. */
export let answers: i32 = 0;

/** After a conversation. One that is learnt has an answer, and not as its first word; any other ends without one. */
export function messages(at: usize, isLearnt: bool): usize {
  if (load<u8>(at) != OPEN_LIST) return 0;
  at = space(at + 1);
  answers = 0;
  let hasUser = false;
  let isFirst = true;
  while (true) {
    at = message(at);
    if (at == 0) return 0;
    if (role == IS_USER) hasUser = true;
    else if (role == IS_ASSISTANT) {
      if (isLearnt && isFirst) return 0;
      answers++;
    } else if (!isFirst) return 0;
    isFirst = false;
    at = space(at);
    const next = load<u8>(at++);
    if (next == COMMA) at = space(at);
    else {
      const isComplete = isLearnt ? answers > 0 : role != IS_ASSISTANT;
      return next == CLOSE_LIST && hasUser && isComplete ? at : 0;
    }
  }
}

/** After a message of a role and a text. Other keys may have any values; of two equal keys the last counts. */
function message(at: usize): usize {
  if (load<u8>(at) != OPEN_OBJECT) return 0;
  at = space(at + 1);
  role = 0;
  let hasContent = false;
  while (true) {
    if (load<u8>(at++) != QUOTE) return 0;
    const key = load<u64>(at);
    if ((key & FIVE) == ROLE) at = roleAt(colon(at + 5));
    else if (key == CONTENT) {
      hasContent = true;
      at = colon(at + 8);
      at = load<u8>(at) == QUOTE ? content(at + 1) : 0;
    } else if (key == TOOL_CAL) return 0;
    else at = value(colon(word(at)));
    at = space(at);
    const next = load<u8>(at++);
    if (next == COMMA) at = space(at);
    else return next == CLOSE_OBJECT && role != 0 && hasContent ? at : 0;
  }
}

/** After a role; tools' results cannot be judged here. */
function roleAt(at: usize): usize {
  if (load<u8>(at++) != QUOTE) return 0;
  const name = load<u64>(at);
  if ((name & FIVE) == USER) {
    role = IS_USER;
    return at + 5;
  }
  if (name == ASSISTAN && load<u16>(at + 8) == _T) {
    role = IS_ASSISTANT;
    return at + 10;
  }
  if ((name & SEVEN) != SYSTEM) return 0;
  role = IS_SYSTEM;
  return at + 7;
}
