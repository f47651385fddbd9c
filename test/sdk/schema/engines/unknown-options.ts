import type { OptionList } from "../../../../sdk/schema/engines/option-list.ts";

/** Options of a command line that the engine's own list has not. */
export function unknownOptions({ options }: OptionList, argv: readonly string[]): string[] {
  return argv.filter((word) => {
    if (!word.startsWith("--")) return false;
    const name = word.slice(2);
    const isOff = name.startsWith("no-") && options[name.slice(3)]?.kind === "switch";
    return !(name in options) && !isOff;
  });
}
