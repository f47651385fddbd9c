import { EventEmitter } from "node:events";
import { expect, it } from "vitest";
import { tellWarnings } from "../../../sdk/cli/warnings.ts";

it("says what we warn of as a sentence, once, and leaves the rest its name", () => {
  const emitter = new EventEmitter();
  emitter.on("warning", () => {
    throw new Error("Node would print it as well");
  });
  const said: string[] = [];
  tellWarnings(emitter, { write: (text: string) => said.push(text) });
  const warn = (name: string, message: string) =>
    emitter.emit("warning", Object.assign(new Error(message), { name }));
  warn("SpotterWarning", "wordle has no tasks; it is left out.");
  warn("SpotterWarning", "wordle has no tasks; it is left out.");
  warn("DeprecationWarning", "url.parse()");
  expect(said).toEqual(["Note: wordle has no tasks; it is left out.\n", "DeprecationWarning: url.parse()\n"]);
});
