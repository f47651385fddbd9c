export * from "./attention.ts";
export * from "./elementwise.ts";
export * from "./embedding.ts";
export * from "./layout.ts";
export * from "./linear.ts";
export * from "./log-likelihood.ts";
export * from "./rms-norm.ts";
export * from "./rotary.ts";
