/** The same rule wherever rewards run: in isolates, and in Python beside a trainer. */
export { combineVerdict } from "../../sdk/schema/combine-verdict.ts";
