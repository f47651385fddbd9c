import { describe, expect, it } from "vitest";
import { fakeServer, sendError } from "../../fake-server.ts";
import { runDetailOf } from "../../records.ts";
import { runCli } from "../run-cli.ts";

describe("spotter open", () => {
  it("prints an address of the pages, or of the page of a run", async () => {
    const { url, requests } = await fakeServer({
      "POST /ui-codes": ({ body }) => ({
        url: `http://pages/?to=${(JSON.parse(body) as { to: string }).to}`,
      }),
      "GET /runs/run1": () => runDetailOf(),
    });
    expect(await runCli("open --no-browser", { url })).toEqual({
      code: 0,
      out: "http://pages/?to=/ui\n",
      err: "Open this address within 1 minute, once.\n",
    });
    expect(JSON.parse((await runCli("open run1 --json", { url })).out)).toEqual({
      url: "http://pages/?to=/ui/runs/run1",
    });
    expect(requests.filter(({ method }) => method === "GET").map(({ path }) => path)).toEqual(["/runs/run1"]);
  });

  it("makes no address for a run that is not there", async () => {
    const { url, requests } = await fakeServer({
      "GET /runs/run9": (_, response) => sendError(response, 404, "not_found", "There is no run run9."),
    });
    const { code, out, err } = await runCli("open run9 --no-browser", { url });
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain("There is no run run9. [not_found]");
    expect(requests.some(({ path }) => path === "/ui-codes")).toBe(false);
  });
});
