import { gzipSync } from "node:zlib";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bundleClient } from "../../../functions/pages/bundle-client.ts";

const folder = join(import.meta.dirname, "../../../functions/pages/client");

describe("the script of the pages", () => {
  it("is small: no validator and no server part of the views in it", async () => {
    const { script, style } = await bundleClient(folder);
    expect(gzipSync(script).length).toBeLessThan(45_000);
    expect(gzipSync(style).length).toBeLessThan(6_000);
    expect(script).not.toMatch(/ZodMini|HtmlEscapedCallbackPhase/);
  });

  it("neither evaluates text nor writes markup, apart from the renderer's own hatch", async () => {
    const { script } = await bundleClient(folder);
    expect(script).not.toMatch(/\beval\(|new Function|document\.write|insertAdjacentHTML|outerHTML/);
    expect(script.match(/innerHTML/g)?.length ?? 0).toBeLessThanOrEqual(3);
  });
});
