/**
 * What the command line draws, for scripts that want to draw the same.
 *
 * @module
 */
export { spotterCommand } from "../spotter-command.ts";
export { watchRun, type WatchRunParams } from "./watch-run.ts";
export { durationText } from "./time.ts";
export { table } from "./table.ts";
