import * as z from "zod";
import type { Entrypoint } from "../../../../sdk/config/prime-rl/types.ts";

const Compiled = z.strictObject({
  fullgraph: z.boolean().default(false).meta({ description: "One graph or none." }),
  mode: z.string().default("default"),
});

const AdamW = z.strictObject({
  type: z.literal("adamw").default("adamw"),
  lr: z.number().min(0).default(1e-6),
  betas1: z.number().default(0.9),
});

const Muon = z.strictObject({
  type: z.literal("muon").default("muon"),
  lr: z.number().min(0).default(1e-6),
  mu: z.number().default(0.95),
});

const Environment = z.strictObject({
  id: z.string().default("x"),
  workers: z.int().default(4),
  args: z.record(z.string(), z.unknown()).default({}),
});

/** One of everything a configuration may hold: the class that the cases named "toy" are about. */
export const toy: Entrypoint = {
  name: "toy",
  schema: z.strictObject({
    name: z.string().default("exp").meta({ description: "What the experiment is called." }),
    seed: z
      .int()
      .default(42)
      .meta({ description: "Where randomness starts.", aliases: ["random_seed", "s"] }),
    enabled: z.boolean().default(false),
    on: z.boolean().default(true),
    lr: z.number().default(1e-4),
    steps: z.int().nullable().default(null),
    group_size: z
      .int()
      .min(1)
      .default(1)
      .meta({ aliases: ["rollouts_per_example"] }),
    items: z.array(z.int()).default([]),
    tags: z.array(z.string()).nullable().default(null),
    extra: z.record(z.string(), z.unknown()).default({}),
    env_vars: z.record(z.string(), z.string()).default({}),
    model: z
      .strictObject({
        name: z.string().default("m"),
        hidden_size: z.int().default(8),
        compile: Compiled.nullable().default(null),
        ac: Compiled.nullable().prefault({}),
      })
      .prefault({}),
    optim: z
      .discriminatedUnion("type", [AdamW, Muon])
      .prefault({ type: "adamw" })
      .meta({ defaultVariant: "adamw" }),
    envs: z.array(Environment).default([]),
  }),
};
