import { DataBucket } from "./components/data-bucket.ts";
import { HttpFunction } from "./components/http-function.ts";
import { StateTable } from "./components/state-table.ts";
import { readConfig } from "./config.ts";

const config = readConfig();
const bucket = new DataBucket("data", config);
const table = new StateTable("state", config);
const control = new HttpFunction(
  "control",
  { entry: new URL("../functions/lambda/pages.ts", import.meta.url) },
  config,
);

/** Where the control plane answers. */
export const url = control.url;
export const bucketName = bucket.name;
export const tableName = table.name;
