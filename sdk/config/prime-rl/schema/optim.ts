import * as z from "zod";
import { bool, float, int, variants } from "./fields.ts";

const shared = {
  lr: float("The peak learning rate.", 1e-6, { min: 0 }),
  weight_decay: float("The weight decay.", 0.01, { min: 0 }),
  max_norm: float("Gradients are clipped to this norm; null does not clip.", 1, { min: 0, nullable: true }),
};

const Sgd = z.strictObject({
  ...shared,
  type: z.literal("sgd"),
  nesterov: bool("Look ahead, as Nesterov does.", true),
  momentum: float("The momentum.", 0.9),
});
const AdamW = z.strictObject({
  ...shared,
  type: z.literal("adamw"),
  betas1: float("The decay of the first moment.", 0.9, { min: 0 }),
  betas2: float("The decay of the second moment.", 0.999, { min: 0 }),
});
const Muon = z.strictObject({
  ...shared,
  type: z.literal("muon"),
  mu: float("The momentum of Muon.", 0.95, { min: 0 }),
  betas1: float("The first decay for parameters that Muon leaves to AdamW.", 0.9, { min: 0 }),
  betas2: float("The second decay for those parameters.", 0.95, { min: 0 }),
});
const SignSgd = z.strictObject({ ...shared, type: z.literal("sign_sgd") });

export const optim = variants("type", [Sgd, AdamW, Muon, SignSgd], "adamw", "The optimizer.");

const warmup = int("Steps until the learning rate is at its peak.", 10, { min: 0 });
const minLr = float("The learning rate at the end.", 0, { min: 0 });
const Constant = z.strictObject({ type: z.literal("constant") });
const Linear = z.strictObject({
  type: z.literal("linear"),
  warmup_steps: warmup,
  decay_steps: int("How many of the last steps decay.", 10, { min: 0 }),
  min_lr: minLr,
});
const Cosine = z.strictObject({ type: z.literal("cosine"), warmup_steps: warmup, min_lr: minLr });

export const scheduler = variants(
  "type",
  [Constant, Linear, Cosine],
  "constant",
  "How the learning rate changes over the run.",
);
