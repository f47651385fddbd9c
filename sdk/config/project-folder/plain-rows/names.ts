import { CLOSE_LIST, COMMA, OPEN_LIST, QUOTE, space } from "./json";

/** Rewards of the project. */
export const REWARDS: i32 = 0;
/** Tools of the project. */
export const TOOLS: i32 = 1;
/** Keys of metadata that a reward cannot do without. */
export const NEEDED: i32 = 2;
/** Keys of rows that nothing reads. */
export const OTHERS: i32 = 3;

const TABLES: usize = 0x1000;
/** How many names each table has. */
const COUNTS: usize = 0x0f00;
const TABLE_NAMES: i32 = 32;
/** Of a name: its mask, its bytes with the quote behind it, and how many they are. */
const SLOT_BYTES: usize = 64;
const NAME_AT: usize = 5;
const LENGTH_AT: usize = 4;

/**
 * Adds the name that lies at `from`, its quote behind it included; `length` is that of both. `mask` is for whoever
 * looks it up. Says whether there was room.
 */
export function addName(table: i32, from: usize, length: i32, mask: u32): bool {
  const count = load<i32>(COUNTS + 4 * table);
  if (count == TABLE_NAMES || usize(length) > SLOT_BYTES - NAME_AT) return false;
  const slot = slotOf(table, count);
  store<u32>(slot, mask);
  store<u8>(slot + LENGTH_AT, u8(length));
  memory.copy(slot + NAME_AT, from, length);
  store<i32>(COUNTS + 4 * table, count + 1);
  return true;
}

function slotOf(table: i32, index: i32): usize {
  return TABLES + usize(table * TABLE_NAMES + index) * SLOT_BYTES;
}

/** The number of the name at that address, its first quote being behind; -1 where it is none of the table. */
export function find(table: i32, at: usize): i32 {
  const count = load<i32>(COUNTS + 4 * table);
  for (let index = 0; index < count; index++) {
    const slot = slotOf(table, index);
    if (memory.compare(slot + NAME_AT, at, load<u8>(slot + LENGTH_AT)) == 0) return index;
  }
  return -1;
}

export function maskOf(table: i32, index: i32): u32 {
  return load<u32>(slotOf(table, index));
}

export function lengthOf(table: i32, index: i32): usize {
  return load<u8>(slotOf(table, index) + LENGTH_AT);
}

/** Of the list that was walked over last: its names as bits, and what their masks are together. */
export let named: u32 = 0;
export let masks: u32 = 0;

/** After a list of names of the table, none of them twice. */
export function list(table: i32, at: usize): usize {
  named = 0;
  masks = 0;
  if (load<u8>(at) != OPEN_LIST) return 0;
  at = space(at + 1);
  if (load<u8>(at) == CLOSE_LIST) return at + 1;
  while (true) {
    if (load<u8>(at++) != QUOTE) return 0;
    const index = find(table, at);
    if (index < 0) return 0;
    const bit: u32 = 1 << index;
    if ((named & bit) != 0) return 0;
    named |= bit;
    masks |= maskOf(table, index);
    at = space(at + lengthOf(table, index));
    const next = load<u8>(at++);
    if (next == COMMA) at = space(at);
    else return next == CLOSE_LIST ? at : 0;
  }
}
