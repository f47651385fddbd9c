import { describe, expect, it } from "vitest";
import { checkImages, imagesOf } from "../../../../sdk/cli/commands/up-gpu.ts";
import { daemonFlags } from "../../../../sdk/local/start-daemon.ts";
import { runCli } from "../run-cli.ts";

describe("the engines of `spotter up`", () => {
  it("are in the images that flags name, or variables", () => {
    const environment = { SPOTTER_SLIME_IMAGE: "a/slime:1", SPOTTER_VLLM_IMAGE: "" };
    expect(imagesOf({ gpu: true }, environment)).toEqual({ slime: "a/slime:1" });
    const options = {
      gpu: true,
      slimeImage: `b/slime@sha256:${"0f".repeat(32)}`,
      vllmImage: "localhost:5000/vllm",
    };
    expect(imagesOf(options, environment)).toEqual({
      slime: `b/slime@sha256:${"0f".repeat(32)}`,
      vllm: "localhost:5000/vllm",
    });
    expect(imagesOf({}, environment)).toBe("none");
  });

  it.each([
    [{ gpu: true }, { where: "--gpu", hint: expect.stringContaining("SPOTTER_VLLM_IMAGE") as string }],
    [{ slimeImage: "a/slime" }, { where: "--slime-image" }],
    [{ gpu: true, vllmImage: "--privileged" }, { where: "--vllm-image" }],
    [{ gpu: true, vllmImage: "a b" }, { message: expect.stringContaining("no name of an image") as string }],
    // Docker itself would only say so at the first launch.
    [{ gpu: true, slimeImage: "a:b:c" }, { where: "--slime-image" }],
    [{ gpu: true, slimeImage: "a" }, { where: "SPOTTER_VLLM_IMAGE" }, { SPOTTER_VLLM_IMAGE: "a/Vllm" }],
  ])("%j is bad input", (options, error, environment: NodeJS.ProcessEnv = {}) => {
    expect(() => imagesOf(options, environment)).toThrow(
      expect.objectContaining({ code: "invalid_input", ...error }),
    );
  });

  it("are those of a daemon that runs already, or it says so", () => {
    const daemon = { url: "http://127.0.0.1:1", images: { vllm: "a:1" } };
    checkImages(daemon, { vllm: "a:1" });
    checkImages(daemon, "none");
    expect(() => checkImages(daemon, { vllm: "a:2" })).toThrow(/runs with vllm in a:1/);
    expect(() => checkImages({ url: daemon.url }, { vllm: "a:2" })).toThrow(/no engine in Docker/);
  });

  it("reach the daemon as its flags", () => {
    expect(daemonFlags({ port: 1, images: { slime: "s", vllm: "v" } }).join(" ")).toBe(
      "--port 1 --gpu --slime-image s --vllm-image v",
    );
    expect(daemonFlags({ images: "none" })).toEqual(["--no-gpu"]);
    expect(daemonFlags({})).toEqual([]);
  });

  it("are taught by its help, and asked for with exit code 2", async () => {
    expect((await runCli("up --help")).out).toContain("--gpu --vllm-image vllm/vllm-openai:TAG");
    const { code, out } = await runCli("up --gpu --json");
    expect(code).toBe(2);
    expect(JSON.parse(out)).toMatchObject({ error: { code: "invalid_input", where: "--gpu" } });
  });
});
