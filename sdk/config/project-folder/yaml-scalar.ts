/**
 * What a plain word means in YAML 1.1, as PyYAML reads it: projects were written against that reader, and the
 * `yaml` package follows the letter of the standard where PyYAML does not (`y` is a word, `1e-4` is a text).
 *
 * @module
 */

const NULL = /^(?:~|null|Null|NULL|)$/;
const TRUE = /^(?:yes|Yes|YES|true|True|TRUE|on|On|ON)$/;
const FALSE = /^(?:no|No|NO|false|False|FALSE|off|Off|OFF)$/;
const BINARY = /^[-+]?0b[01_]+$/;
const OCTAL = /^[-+]?0[0-7_]+$/;
const DECIMAL = /^[-+]?(?:0|[1-9][0-9_]*)$/;
const HEXADECIMAL = /^[-+]?0x[0-9a-fA-F_]+$/;
const SIXTIES = /^[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+$/;
const FLOAT = /^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?)$/;
const SIXTIES_FLOAT = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*$/;
const INFINITE = /^[-+]?\.(?:inf|Inf|INF)$/;
const NOT_A_NUMBER = /^\.(?:nan|NaN|NAN)$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const DATE_TIME =
  /^\d{4}-\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?(?:[ \t]*(?:Z|[-+]\d\d?(?::\d\d)?))?$/;

/** A date, which no key of a project takes; its text is kept for messages. */
export class YamlDate {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The value of a plain (unquoted) scalar. */
export function plainScalar(text: string): null | boolean | number | string | YamlDate {
  if (NULL.test(text)) return null;
  if (TRUE.test(text)) return true;
  if (FALSE.test(text)) return false;
  const number = plainNumber(text);
  if (number !== undefined) return number;
  return DATE.test(text) || DATE_TIME.test(text) ? new YamlDate(text) : text;
}

function plainNumber(text: string): number | undefined {
  if (INFINITE.test(text)) return text.startsWith("-") ? -Infinity : Infinity;
  if (NOT_A_NUMBER.test(text)) return Number.NaN;
  const sign = text.startsWith("-") ? -1 : 1;
  const bare = text.replaceAll("_", "");
  const digits = bare.replace(/^[-+]/, "");
  // In the order of PyYAML's reader: what looks octal is octal.
  if (FLOAT.test(text)) return Number(bare);
  if (BINARY.test(text)) return sign * Number(digits);
  if (HEXADECIMAL.test(text)) return sign * Number(digits);
  if (OCTAL.test(text)) return sign * Number.parseInt(digits, 8);
  if (DECIMAL.test(text)) return sign * Number(digits);
  if (SIXTIES.test(text) || SIXTIES_FLOAT.test(text))
    return sign * digits.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
  return undefined;
}
