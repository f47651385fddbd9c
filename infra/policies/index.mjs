// What Pulumi loads. It reads TypeScript by a compiler of its own, which takes no modules of today; Node reads
// what a module of JavaScript imports.
import "./pack.ts";
