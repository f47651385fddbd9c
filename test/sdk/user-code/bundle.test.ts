import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import { bundleUserCode } from "../../../sdk/user-code/bundle.ts";

describe("bundleUserCode", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "spotter-bundle-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const file = (text: string, name = "rewards.ts") => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const failure = async (entry: string | URL) => {
    const error: unknown = await bundleUserCode(entry).catch((reason: unknown) => reason);
    if (!SpotterError.is(error)) throw new Error(`Not a coded error: ${String(error)}`);
    return error;
  };

  it("takes paths and file URLs only", async () => {
    for (const entry of [
      new URL("https://example.com/rewards.ts"),
      "https://example.com/rewards.ts",
      5 as never,
    ])
      expect(await failure(entry)).toMatchObject({
        code: "invalid_input",
        message: expect.stringMatching(/^rewards: expected a path or a file: URL, not /) as string,
      });
  });

  it("makes one module that runs, hashed by its bytes (54)", async () => {
    file(`export const factor: number = 3;`, "lib/factor.ts");
    file(`export const answer = 14;`, "node_modules/some-package/index.js");
    const path = file(`import { reward } from "spotter";
      import { factor } from "./lib/factor.ts";
      import { answer } from "some-package";
      export const a = reward({ weight: 2 }, ({ row }) => Number(row.x) * factor * answer);`);
    const bundle = await bundleUserCode(path);
    expect(bundle).toMatchObject({ name: "rewards.ts", exportNames: ["a"], warnings: [] });
    expect(bundle.sha256).toBe(createHash("sha256").update(bundle.code).digest("hex"));

    const { default: adapter } = (await import(
      `data:text/javascript;base64,${Buffer.from(bundle.code).toString("base64")}`
    )) as { default: { fetch(request: Request): Promise<Response> } };
    const described = await adapter.fetch(new Request("http://isolate/"));
    expect(await described.json()).toEqual({
      exports: [{ name: "a", kind: "reward", weight: 2, precondition: false }],
      others: [],
      joint: true,
    });
    const header = JSON.stringify({ exports: ["a", "a"], secrets: {}, timeoutMs: 1000 });
    const body = `${header}\n${JSON.stringify([{ row: { x: 1 } }])}`;
    const called = await adapter.fetch(new Request("http://isolate/", { method: "POST", body }));
    expect(await called.json()).toEqual({ results: [[{ value: 42 }], [{ value: 42 }]] });
  });

  it("gives equal hashes for equal sources in different folders", async () => {
    const text = `import { reward } from "spotter"; import { one } from "./one.ts"; export const a = reward(() => one);`;
    for (const copy of ["here", "over/there"]) {
      file(text, `${copy}/rewards.ts`);
      file(`export const one = 1;`, `${copy}/one.ts`);
    }
    const here = await bundleUserCode(pathToFileURL(join(folder, "here/rewards.ts")));
    const there = await bundleUserCode(join(folder, "over/there/rewards.ts"));
    expect(there.sha256).toBe(here.sha256);
    expect(Buffer.from(here.code).toString()).not.toContain(folder);
  });

  it("has mathEqual where a file mentions it, and else nothing of the algebra behind it", async () => {
    const reward = 'import { reward } from "spotter"; export const a = reward(() => 1);';
    const plain = await bundleUserCode(file(reward, "plain.ts"));
    const text = `import { mathEqual, reward } from "spotter";
      export const a = reward(({ response }) => (mathEqual("1/2", response.content) ? 1 : 0));`;
    const exact = await bundleUserCode(file(text, "exact.ts"));
    expect(plain.code.byteLength).toBeLessThan(40_000);
    expect(exact.code.byteLength).toBeGreaterThan(100_000);
    expect(exact.warnings).toEqual([]);
    const code = Buffer.from(exact.code).toString();
    // Wherever the package is installed, the hash is the same.
    expect(code).not.toMatch(/node_modules|new Function\(/);
  });

  it("sees exports of every form", async () => {
    file(`export const b = 1; export function c() {}`, "more.ts");
    const path = file(`export * from "./more.ts"; export { b as d } from "./more.ts"; export default 1;`);
    expect((await bundleUserCode(path)).exportNames.sort()).toEqual(["b", "c", "d", "default"]);
  });

  it("lists every error with its place, and how to get a missing package", async () => {
    file(`export const x = ;`, "broken.ts");
    const path = file(
      `import a from "no-such-package";\nimport "./broken.ts";\nimport "./gone.ts";\nexport { a };`,
    );
    const error = await failure(path);
    expect(error).toMatchObject({ code: "user_code_invalid", where: "broken.ts:1:18" });
    expect(error.message).toContain("broken.ts:1:18: Unexpected");
    expect(error.message).toContain('rewards.ts:1:15: Could not resolve "no-such-package"');
    expect(error.message).toContain('rewards.ts:3:8: Could not resolve "./gone.ts"');
    expect(error.hint).toContain("npm install no-such-package");
  });

  it("says what spotter has inside an isolate", async () => {
    const error = await failure(
      file(`import { Endpoint } from "spotter"; export const a = Endpoint.launch;`),
    );
    expect(error.code).toBe("user_code_invalid");
    expect(error.hint).toContain("reward, tool, environment and mathEqual only");
  });

  it("names a file that is not there or exports nothing", async () => {
    expect(await failure(join(folder, "gone.ts"))).toMatchObject({
      code: "reward_missing",
      where: join(folder, "gone.ts"),
    });
    expect(await failure(folder)).toMatchObject({ code: "reward_missing" });
    const empty = await failure(file(`const a = 1; void a;`));
    expect(empty).toMatchObject({ code: "reward_missing", message: "rewards.ts exports nothing." });
  });

  it("warns of code made at run time in the user's own files", async () => {
    file(`export const g = new Function("return this");`, "node_modules/old-package/index.js");
    const path = file(`import { g } from "old-package";\nexport const a = () => [g, eval("1"), retrieval(2)];
      const retrieval = (x: number) => x;\nexport const f = new Function("return 1");`);
    expect((await bundleUserCode(path)).warnings).toEqual([
      "rewards.ts:2:28: eval is refused in an isolate",
      "rewards.ts:4:18: new Function is refused in an isolate",
    ]);
  });

  it("bundles plain JavaScript and ignores the folder's own tsconfig", async () => {
    file(`{ "compilerOptions": { "paths": { "spotter": ["./mine.ts"] } } }`, "tsconfig.json");
    const path = file(`import { reward } from "spotter"; export const a = reward(() => 1);`, "rewards.js");
    expect((await bundleUserCode(path)).exportNames).toEqual(["a"]);
  });

  it("works from compiled files, outside of the source tree", async () => {
    const ts = await import("typescript");
    const source = join(import.meta.dirname, "../../../sdk");
    const names = [
      "file-path",
      "reward",
      "tool",
      "environment",
      "schema/errors",
      "schema/error-codes",
      "schema/timer-ms",
      "schema/type-name",
    ];
    const own = [
      "bundle",
      "spotter-module",
      "code-generation",
      "runtime",
      "adapter",
      "console",
      "json-outcome",
      "judge-asks",
      "members",
      "thrown",
      "definition",
      "reward-value",
    ];
    for (const name of [...names, ...own.map((each) => `user-code/${each}`)]) {
      const { outputText } = ts.default.transpileModule(
        ts.default.sys.readFile(join(source, `${name}.ts`)) ?? "",
        {
          compilerOptions: {
            module: 199,
            target: 10,
            rewriteRelativeImportExtensions: true,
            verbatimModuleSyntax: true,
          },
          fileName: `${name}.mts`,
        },
      );
      file(outputText, `dist/sdk/${name}.js`);
    }
    file(`{ "type": "module" }`, "package.json");
    for (const name of ["zod", "esbuild"]) {
      mkdirSync(join(folder, "node_modules"), { recursive: true });
      const { symlinkSync } = await import("node:fs");
      symlinkSync(join(source, "../node_modules", name), join(folder, "node_modules", name));
    }
    cpSync(
      join(import.meta.dirname, "../../fixtures/user-code/misbehaving.js"),
      join(folder, "elsewhere.js"),
    );
    const url = pathToFileURL(join(folder, "dist/sdk/user-code/bundle.js")).href;
    const compiled = (await import(/* @vite-ignore */ url)) as { bundleUserCode: typeof bundleUserCode };
    expect((await compiled.bundleUserCode(join(folder, "elsewhere.js"))).exportNames).toContain("loops");
  });
});
