import { Hono } from "hono";
import { handle } from "hono/aws-lambda";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Health } from "../../sdk/schema/status.ts";

const version = process.env["SPOTTER_VERSION"];
if (version === undefined) throw new Error("SPOTTER_VERSION is not set.");

const app = new Hono();

app.get("/health", (context) => context.json({ ok: true, name: "spotter", version } satisfies Health));

app.all("*", (context) => {
  const error = new SpotterError(
    "aws_adapters_missing",
    `This deployment cannot answer ${context.req.method} ${context.req.path}: its state adapters are not there yet.`,
    {
      where: context.req.path,
      hint: "Run Spotter on one machine with `spotter up`; the SDK finds it by itself.",
    },
  );
  return context.json(error.toBody(), 501);
});

export const handler = handle(app);
