/**
 * What `import ... from "spotter"` means in a file that mentions `mathEqual`: the algebra behind it is half a
 * megabyte, and nobody else's bundle has to be searched for what of it is unused.
 *
 * @module
 */
export { reward } from "../reward.ts";
export { tool } from "../tool.ts";
export { environment } from "../environment.ts";
export { mathEqual } from "../math/index.ts";
