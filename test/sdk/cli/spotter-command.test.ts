import { describe, expect, it } from "vitest";
import { spotterCommand, withCommands } from "../../../sdk/cli/spotter-command.ts";

describe("spotterCommand", () => {
  it("is what was installed, under npx where npm runs us, for the same state folder", () => {
    expect(spotterCommand("status", {})).toBe("spotter status");
    expect(spotterCommand("status", { npm_command: "exec" })).toBe("npx spotter status");
    expect(spotterCommand("down", { npm_lifecycle_event: "demo", SPOTTER_HOME: "/tmp/gym" })).toBe(
      "SPOTTER_HOME=/tmp/gym npx spotter down",
    );
    expect(spotterCommand("down", { SPOTTER_HOME: "/tmp/Bob's $1" })).toBe(
      "SPOTTER_HOME='/tmp/Bob'\\''s $1' spotter down",
    );
  });

  it("mends the commands in a hint, and nothing else", () => {
    const env = { npm_command: "exec", SPOTTER_HOME: "/gym" };
    expect(withCommands("Run `spotter up`; spotter/nano is `spotter/nano`.", env)).toBe(
      "Run `SPOTTER_HOME=/gym npx spotter up`; spotter/nano is `spotter/nano`.",
    );
  });
});
