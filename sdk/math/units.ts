import type { Token } from "./tokens.ts";

/** Units that keyboards write without `\text`; their letters come one by one. One letter alone may be a variable. */
const UNITS = new Set([
  "mm", "cm", "dm", "km", "ft", "feet", "foot", "inch", "inches", "yd", "yard", "yards", "mile", "miles", "meter", "meters",
  "metre", "metres", "mg", "kg", "gram", "grams", "lb", "lbs", "oz", "pound", "pounds", "ton", "tons", "ml", "liter", "liters",
  "litre", "litres", "gallon", "gallons", "sec", "second", "seconds", "min", "mins", "minute", "minutes", "hr", "hrs", "hour",
  "hours", "day", "days", "week", "weeks", "month", "months", "year", "years", "mph", "kmh", "kph", "cent", "cents", "dollar",
  "dollars", "euro", "euros", "unit", "units", "square", "cubic", "sq", "cu", "rad", "radians",
]); // prettier-ignore

export function isUnit(word: string): boolean {
  return UNITS.has(word.toLowerCase());
}

/** Without what is measured: `10 \text{ cm}^2` is 10. Words alone stay, they are the answer. */
export function withoutUnits(tokens: readonly Token[]): readonly Token[] {
  const bare = withoutPower(tokens);
  if (bare.at(-1)?.type === "words" && bare.length > 1) return withoutUnits(bare.slice(0, -1));
  const lettersFrom = bare.findLastIndex(({ type }) => type !== "name") + 1;
  for (let from = Math.max(lettersFrom, 1); from < bare.length; from++) {
    const word = bare
      .slice(from)
      .map(({ text }) => text)
      .join("");
    if (isUnit(word)) return withoutUnits(bare.slice(0, from));
  }
  return tokens;
}

function withoutPower(tokens: readonly Token[]): readonly Token[] {
  const [words, power, exponent] = tokens.slice(-3);
  const isPower =
    power?.text === "^" && exponent?.type === "number" && (words?.type === "words" || words?.type === "name");
  const [, open, number, close] = tokens.slice(-4);
  const isBraced =
    tokens.at(-5)?.type === "words" &&
    tokens.at(-4)?.text === "^" &&
    open?.text === "{" &&
    number?.type === "number" &&
    close?.text === "}";
  if (isBraced) return tokens.slice(0, -4);
  return isPower ? tokens.slice(0, -2) : tokens;
}
