import { mkdirSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { dockerEngines } from "../../../functions/local/docker-engines.ts";
import { readGpuSettings, writeGpuSettings } from "../../../functions/local/gpu-settings.ts";
import { useFolder } from "./use-folder.ts";

const folder = useFolder();

it("keeps the images of engines for the next daemon, until there are none", () => {
  expect(readGpuSettings(folder())).toBeUndefined();
  writeGpuSettings(folder(), { vllm: "gym/vllm:1" });
  expect(readGpuSettings(folder())).toEqual({ vllm: "gym/vllm:1" });
  writeGpuSettings(folder(), undefined);
  expect(readGpuSettings(folder())).toBeUndefined();
});

it.each(["{", '{"v":2}', '{"v":1,"images":{"vllm":"--privileged"}}'])("refuses the file %s", (text) => {
  writeFileSync(folder("gpu.json"), text);
  expect(() => readGpuSettings(folder())).toThrow(
    expect.objectContaining({ code: "state_unreadable", where: folder("gpu.json") }),
  );
});

it("does not take what cannot be read for no GPUs", () => {
  mkdirSync(folder("gpu.json"));
  expect(() => readGpuSettings(folder())).toThrow(
    expect.objectContaining({ code: "state_unreadable", where: folder("gpu.json") }),
  );
});

it("offers engines that have images, with what a container may know of this machine", () => {
  const environment = {
    PATH: "/bin",
    HF_TOKEN: "t",
    CUDA_VISIBLE_DEVICES: "1",
    LD_LIBRARY_PATH: "/lib",
    OTHER: "x",
  };
  const engines = dockerEngines({ vllm: "gym/vllm:1" }, environment);
  expect(engines.offered()).toEqual(["vllm"]);
  expect(engines.remedy("slime")).toContain("SPOTTER_SLIME_IMAGE");
  expect(engines.cannotGive({ ONE: "line", TWO: "li\nnes", THREE: "\r" })).toEqual(["TWO", "THREE"]);
  expect(engines.agent.environment).toEqual({
    HF_TOKEN: "t",
    CUDA_VISIBLE_DEVICES: "1",
    PYTHONPATH: "/spotter/agent",
    PYTHONDONTWRITEBYTECODE: "1",
    SPOTTER_AGENT_OPTIONS: '{"host":"127.0.0.1","address":"127.0.0.1"}',
  });
});
