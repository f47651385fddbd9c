/**
 * Entry of an export: writes a model in another format, in a process of its own. What to do is the only
 * argument, as JSON ({@link exportRequest}); the answer is the last line of the output, as JSON too.
 *
 * @module
 */
import { exportRequest } from "../sdk/schema/export.ts";
import { SpotterError } from "../sdk/schema/errors.ts";
import { parseWith } from "../sdk/schema/parse.ts";
import { exportModel } from "./export/export-model.ts";
import { modelFolder } from "./model-files.ts";

const TYPES = { f32: "F32", f16: "F16", bf16: "BF16", q8_0: "Q8_0" } as const;

try {
  const { model, type, ...request } = parseWith(
    exportRequest,
    JSON.parse(process.argv[2] ?? "null"),
    "An export",
  );
  const modelDir = await modelFolder({ name: model });
  const exported = await exportModel({ ...request, modelDir, type: TYPES[type] });
  process.stdout.write(`${JSON.stringify(exported)}\n`);
} catch (error) {
  process.stdout.write(`${JSON.stringify(SpotterError.from(error).toBody())}\n`);
  process.exitCode = 1;
}
