import { optionFaults, optionName, optionOf, type OptionList, type OptionValue } from "./option-list.ts";

/** Why a run or an endpoint cannot be as it is told, at its key of the spec. */
export interface EngineFault {
  where: string;
  message: string;
  hint?: string;
}

type Given = Readonly<Record<string, unknown>>;

/** What a user gives of an engine's options: settings that are typed, and any other by its name. */
export interface GivenOptions {
  /** The key of the spec that they are below. */
  at: string;
  settings: Given;
  flags: Given;
}

/**
 * Names that the engine has not, values that an option cannot have, the same option twice, and options that are
 * Spotter's own.
 *
 * @param ours - What to do instead of giving them, by name.
 */
export function givenFaults(
  list: OptionList,
  { at, settings, flags }: GivenOptions,
  ours: Readonly<Record<string, string>>,
): EngineFault[] {
  const typed = Object.entries(settings).filter(([name]) => optionOf(list, name) !== undefined);
  return [
    ...valueFaults(list, Object.fromEntries(typed), at),
    ...valueFaults(list, flags, `${at}.flags`),
    ...ownFaults(flags, `${at}.flags`, ours),
    ...doubled(settings, flags, at),
  ];
}

function valueFaults(list: OptionList, given: Given, at: string): EngineFault[] {
  const values = Object.entries(given).filter((entry): entry is [string, OptionValue] =>
    isOptionValue(entry[1]),
  );
  return optionFaults(list, Object.fromEntries(values)).map(({ name, message, hint }) => ({
    where: `${at}.${name}`,
    message,
    ...(hint === undefined ? {} : { hint }),
  }));
}

function isOptionValue(value: unknown): value is OptionValue {
  return ["string", "number", "boolean"].includes(typeof value) || Array.isArray(value);
}

/** Options that are Spotter's own. */
export function ownFaults(given: Given, at: string, ours: Readonly<Record<string, string>>): EngineFault[] {
  return Object.keys(given).flatMap((name) => {
    const hint = Object.hasOwn(ours, optionName(name)) ? ours[optionName(name)] : undefined;
    return hint === undefined ? [] : [{ where: `${at}.${name}`, message: "is set by Spotter", hint }];
  });
}

/** The same option under two spellings, or as a setting and in `flags`: which one is meant? */
function doubled(settings: Given, flags: Given, at: string): EngineFault[] {
  const seen = new Map<string, string>();
  const faults: EngineFault[] = [];
  const places = [
    ...Object.keys(settings).map((name) => [name, `${at}.${name}`] as const),
    ...Object.keys(flags).map((name) => [name, `${at}.flags.${name}`] as const),
  ];
  for (const [name, where] of places) {
    const first = seen.get(optionName(name));
    if (first === undefined) seen.set(optionName(name), where);
    else faults.push({ where, message: `is given as ${first} too`, hint: "Leave one of them out." });
  }
  return faults;
}
