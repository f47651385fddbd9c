/**
 * Walks over JSON in UTF-8. Each function takes the address where something should begin and gives the one after it,
 * or 0 where it is something else or cannot be judged here. What lies at address 0 is zeros, which are no part of any
 * JSON: whatever follows a failure fails as well, so that nobody has to ask.
 *
 * Nothing ever walks over a newline, and every row ends with one: that is the bound of all loops.
 */
export const QUOTE: u8 = 0x22;
export const OPEN_OBJECT: u8 = 0x7b;
export const CLOSE_OBJECT: u8 = 0x7d;
export const OPEN_LIST: u8 = 0x5b;
export const CLOSE_LIST: u8 = 0x5d;
export const COMMA: u8 = 0x2c;
const COLON: u8 = 0x3a;
const SPACE: u8 = 0x20;
const BACKSLASH: u8 = 0x5c;
const DOLLAR: u8 = 0x24;

/** Levels within a value; far below those at which rows are too deep. */
const MAX_DEPTH: i32 = 60;
/** Whole numbers of fewer digits are held exactly by JavaScript. */
const MAX_DIGITS: usize = 15;

// Words as they are loaded: the first letter is the lowest byte.
const TRUE: u32 = 0x65757274;
const NULL: u32 = 0x6c6c756e;
const ALSE: u32 = 0x65736c61;

/** After spaces. A newline is none of them. */
export function space(at: usize): usize {
  let byte = load<u8>(at);
  if (byte > SPACE) return at;
  while (byte == SPACE || byte == 0x09 || byte == 0x0d) byte = load<u8>(++at);
  return at;
}

/** After the colon that follows a key, and spaces. */
export function colon(at: usize): usize {
  at = space(at);
  return load<u8>(at) == COLON ? space(at + 1) : 0;
}

/** After the rest of a text, its first quote being behind. */
export function text(at: usize): usize {
  while (true) {
    const bytes = v128.load(at);
    const stops = i8x16.bitmask(v128.or(special(bytes), i8x16.eq(bytes, i8x16.splat(BACKSLASH))));
    if (stops == 0) {
      at += 16;
      continue;
    }
    at += ctz(stops);
    const byte = load<u8>(at++);
    if (byte == QUOTE) return at;
    if (byte != BACKSLASH) return 0;
    at = escape(at);
  }
}

/** The same for what a message says: a dollar sign that may begin the name of a variable cannot be judged here. */
export function content(at: usize): usize {
  while (true) {
    const bytes = v128.load(at);
    const marks = v128.or(i8x16.eq(bytes, i8x16.splat(BACKSLASH)), i8x16.eq(bytes, i8x16.splat(DOLLAR)));
    const stops = i8x16.bitmask(v128.or(special(bytes), marks));
    if (stops == 0) {
      at += 16;
      continue;
    }
    at += ctz(stops);
    const byte = load<u8>(at++);
    if (byte == QUOTE) return at;
    if (byte == BACKSLASH) at = escape(at);
    else if (byte != DOLLAR || beginsName(at)) return 0;
  }
}

/** The same for a text without escapes, which can be compared as it stands. */
export function word(at: usize): usize {
  while (true) {
    const bytes = v128.load(at);
    const stops = i8x16.bitmask(v128.or(special(bytes), i8x16.eq(bytes, i8x16.splat(BACKSLASH))));
    if (stops == 0) {
      at += 16;
      continue;
    }
    at += ctz(stops);
    return load<u8>(at) == QUOTE ? at + 1 : 0;
  }
}

/** Quotes, and what must not stand in a text. */
function special(bytes: v128): v128 {
  return v128.or(i8x16.eq(bytes, i8x16.splat(QUOTE)), i8x16.lt_u(bytes, i8x16.splat(SPACE)));
}

/** After an escape, its backslash being behind. An escaped dollar sign is not judged. */
function escape(at: usize): usize {
  switch (load<u8>(at)) {
    case 0x6e: // n
    case QUOTE:
    case BACKSLASH:
    case 0x2f: // slash
    case 0x62: // b
    case 0x66: // f
    case 0x72: // r
    case 0x74: // t
      return at + 1;
    case 0x75: // u
      return unicode(at + 1);
    default:
      return 0;
  }
}

function unicode(at: usize): usize {
  let unit: u32 = 0;
  for (let end = at + 4; at < end; at++) {
    const byte = load<u8>(at);
    const letter: u8 = byte | 0x20;
    if (byte >= 0x30 && byte <= 0x39) unit = (unit << 4) | (byte - 0x30);
    else if (letter >= 0x61 && letter <= 0x66) unit = (unit << 4) | (letter - 0x57);
    else return 0;
  }
  return unit == DOLLAR ? 0 : at;
}

/** Whether what follows a dollar sign may be a name, or a brace before one. */
function beginsName(at: usize): bool {
  const byte = load<u8>(at);
  const letter: u8 = byte | 0x20;
  if ((letter >= 0x61 && letter <= 0x7a) || byte == 0x5f || byte == OPEN_OBJECT) return true;
  return byte == BACKSLASH && load<u8>(at + 1) == 0x75;
}

/** After a text, number, true, false or null. */
export function scalar(at: usize): usize {
  switch (load<u8>(at)) {
    case QUOTE:
      return text(at + 1);
    case 0x74: // t
      return load<u32>(at) == TRUE ? at + 4 : 0;
    case 0x66: // f
      return load<u32>(at + 1) == ALSE ? at + 5 : 0;
    case 0x6e: // n
      return load<u32>(at) == NULL ? at + 4 : 0;
    default:
      return number(at);
  }
}

function number(at: usize): usize {
  if (load<u8>(at) == 0x2d) at++;
  const first = at;
  at = load<u8>(at) == 0x30 ? at + 1 : digits(at);
  if (at - first > MAX_DIGITS) return 0;
  if (load<u8>(at) == 0x2e) at = digits(at + 1);
  if ((load<u8>(at) | 0x20) != 0x65) return at;
  const sign = load<u8>(++at);
  return digits(sign == 0x2b || sign == 0x2d ? at + 1 : at);
}

/** After one digit or more. */
function digits(at: usize): usize {
  const first = at;
  while (u8(load<u8>(at) - 0x30) < 10) at++;
  return at > first ? at : 0;
}

/** After any value. */
export function value(at: usize): usize {
  const byte = load<u8>(at);
  return byte == OPEN_OBJECT || byte == OPEN_LIST ? nested(at) : scalar(at);
}

function nested(at: usize): usize {
  let depth = 0;
  // A bit a level, the innermost one the lowest: whether it is an object.
  let objects: u64 = 0;
  while (true) {
    const byte = load<u8>(at);
    if (byte == OPEN_OBJECT || byte == OPEN_LIST) {
      const isObject = byte == OPEN_OBJECT;
      at = space(at + 1);
      if (load<u8>(at) != (isObject ? CLOSE_OBJECT : CLOSE_LIST)) {
        if (++depth > MAX_DEPTH) return 0;
        objects = (objects << 1) | u64(isObject);
        if (isObject) at = key(at);
        continue;
      }
      at++;
    } else at = scalar(at);
    if (at == 0) return 0;
    // What ends with this value, up to where another one follows.
    let isNext = false;
    while (depth > 0 && !isNext) {
      at = space(at);
      const isObject = (objects & 1) != 0;
      const next = load<u8>(at++);
      if (next == COMMA) {
        isNext = true;
        at = space(at);
        if (isObject) at = key(at);
      } else if (next == (isObject ? CLOSE_OBJECT : CLOSE_LIST)) {
        objects >>= 1;
        depth--;
      } else return 0;
    }
    if (!isNext) return at;
  }
}

/** After any key, its colon and spaces. */
function key(at: usize): usize {
  return load<u8>(at) == QUOTE ? colon(text(at + 1)) : 0;
}
