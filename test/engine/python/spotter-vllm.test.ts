import { describe, expect, it } from "vitest";
import { answer } from "../fake-control-plane.ts";
import { host } from "./slime-host.ts";
import { hasPython } from "./spotter_agent/has-python.ts";
import { runPython } from "./spotter_agent/run-python.ts";

describe.runIf(hasPython)("adapters inside vLLM", () => {
  it("are found as a plug-in, fetched once, and unknown where they are none", async () => {
    const { plane, env } = await host();
    const file = plane.addFile("model/adapter_config.json", "{}");
    const state = plane.addFile("trainer/state.json", "{}");
    let fetched = 0;
    plane.intercept = (request, response) => {
      const match = /^\/jobs\/job-1\/adapters\/(.+)$/.exec(request.url ?? "");
      if (!match) return false;
      const found = decodeURIComponent(match[1] ?? "") === "run-1@4";
      if (found) fetched++;
      const error = { error: { code: "checkpoint_not_found", kind: "user", message: "none" } };
      answer(response, found ? 200 : 404, found ? { kind: "lora", files: [file, state] } : error);
      return true;
    };
    const lines = await runPython(
      `
import asyncio, json, os
from importlib.metadata import entry_points
every = entry_points()
group = every.select(group="vllm.general_plugins") if hasattr(every, "select") else every["vllm.general_plugins"]
found = [each for each in group if each.name == "spotter_adapters"]
found[0].load()()
from vllm.lora.resolver import LoRAResolverRegistry
resolver = LoRAResolverRegistry.resolvers["Spotter"]
async def main():
    one, two = await asyncio.gather(*(resolver.resolve_lora("base", "run-1@4") for _ in range(2)))
    print(one.lora_int_id == two.lora_int_id > 0, os.listdir(one.lora_path))
    print([await resolver.resolve_lora("base", name) for name in ("run-1@5", "base", "../../etc@1")])
asyncio.run(main())
`,
      env,
    );
    expect(lines).toEqual(["True ['adapter_config.json', '.complete']", "[None, None, None]"]);
    expect(fetched).toBe(1);
  });
});
