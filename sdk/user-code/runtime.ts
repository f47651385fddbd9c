/**
 * What `import ... from "spotter"` means inside an isolate: the definitions and nothing that needs a network,
 * a file or a control plane.
 *
 * @module
 */
export { reward } from "../reward.ts";
export { tool } from "../tool.ts";
export { environment } from "../environment.ts";
