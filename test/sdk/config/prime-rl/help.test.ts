import { expect, it } from "vitest";
import { ENTRYPOINTS, type EntrypointName } from "../../../../sdk/config/prime-rl/entrypoints.ts";
import { targetOf } from "../../../../sdk/config/prime-rl/argv-target.ts";
import { helpGroups } from "../../../../sdk/config/prime-rl/help.ts";
import { leavesOf, rootOf } from "../../../../sdk/config/prime-rl/walk.ts";
import { flagText } from "../../../../sdk/config/prime-rl/provenance.ts";
import { toy } from "./toy.ts";

it("shows a setting with its flag, what it takes, what it is for, default, bounds and old name", () => {
  const [first, ...others] = helpGroups(rootOf(toy.schema));
  expect(first).toMatchObject({ title: "Settings" });
  expect(first?.rows).toEqual(
    expect.arrayContaining([
      { flag: "--name", takes: "TEXT", text: 'What the experiment is called. (default: "exp")' },
      { flag: "-s, --seed", takes: "INT", text: "Where randomness starts. (default: 42; also random_seed)" },
      { flag: "--group-size", takes: "INT", text: "(default: 1; at least 1; also rollouts_per_example)" },
      { flag: "--items", takes: "INT...", text: "(default: [])" },
      { flag: "--envs", takes: "JSON", text: "(default: [])" },
    ]),
  );
  expect(others.map(({ title, note }) => [title, note])).toEqual([
    ["model", ""],
    ["model.compile", "off unless named"],
    ["model.ac", "on unless switched off"],
    ["optim", ""],
    ["optim, type = adamw", ""],
    ["optim, type = muon", ""],
    ["envs.N", "one [[envs]] for each"],
  ]);
});

it.each(Object.keys(ENTRYPOINTS) as EntrypointName[])(
  "is the full schema of %s, and every flag in it works",
  (name) => {
    const root = rootOf(ENTRYPOINTS[name].schema);
    const flags = helpGroups(root).flatMap(({ rows }) => rows.map(({ flag }) => flag));
    expect(flags).toEqual(expect.arrayContaining(leavesOf(root).map(flagText)));
    for (const flag of flags)
      expect(targetOf(flag.slice(2).replaceAll(".N", ".0"), root).shape, flag).toBeDefined();
  },
);
