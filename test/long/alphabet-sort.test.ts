import { describe, it } from "vitest";
import { ownHome } from "../e2e/home.ts";
import { expectPlays } from "../e2e/plays-example.ts";

describe("examples/alphabet_sort on this machine", () => {
  ownHome();

  it("plays as its file stands, with another model (B48)", () => expectPlays("alphabet_sort"));
});
