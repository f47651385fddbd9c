import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { readHidden } from "../../../sdk/cli/read-hidden.ts";

/** A terminal whose keys are `type`d by the test. */
class Terminal extends EventEmitter {
  raw: boolean[] = [];
  setRawMode = (on: boolean) => (this.raw.push(on), this) as never;
  resume = () => this as never;
  pause = () => this as never;
  type = (keys: string) => this.emit("data", Buffer.from(keys));
}

it("reads a line, keeps it off the screen, and knows the erase key", async () => {
  const [terminal, screen] = [new Terminal(), new PassThrough()];
  const answer = readHidden("Value: ", terminal as never, screen, new AbortController().signal);
  terminal.type("hunx");
  terminal.type("\u007fter-2\r");
  expect(await answer).toBe("hunter-2");
  expect(String(screen.read())).toBe("Value: \n");
  expect(terminal.raw).toEqual([true, false]);
  expect(terminal.listenerCount("data")).toBe(0);
});

it("gives the terminal back when it is interrupted", async () => {
  const abort = new AbortController();
  for (const interrupt of [(terminal: Terminal) => terminal.type("a\u0003"), () => abort.abort()]) {
    const terminal = new Terminal();
    const answer = readHidden("Value: ", terminal as never, new PassThrough(), abort.signal);
    interrupt(terminal);
    await expect(answer).rejects.toThrow();
    expect(terminal.raw).toEqual([true, false]);
  }
});
