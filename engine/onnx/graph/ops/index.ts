export * from "./elementwise.ts";
export * from "./gather.ts";
export * from "./layout.ts";
export * from "./matmul.ts";
export * from "./reduce.ts";
export * from "./transformer.ts";
