import type { EngineImages } from "../../sdk/schema/engine-images.ts";
import type { ForeignEngine } from "../ports/containers.ts";
import { unwritable } from "./docker-containers/environment-file.ts";
import { PLACES } from "./docker-containers/run-args.ts";
import { agentOptions, type ForeignEngines } from "./foreign-engines.ts";

/** What a container may have of this machine's variables; its PATH and libraries are its image's own. */
const PASSED_ON =
  /^(CUDA_VISIBLE_DEVICES|NCCL_\w+|HF_TOKEN|HF_ENDPOINT|HTTPS_PROXY|NO_PROXY|SPOTTER_ENGINE_(DIR|PYTHON)|STAND_IN\w*)$/;

/** Engines in containers of their images. */
export function dockerEngines(images: EngineImages, environment: NodeJS.ProcessEnv): ForeignEngines {
  const passedOn = Object.entries(environment).flatMap(([name, value]) =>
    value !== undefined && PASSED_ON.test(name) ? [[name, value] as const] : [],
  );
  const engines: readonly ForeignEngine[] = ["slime", "vllm"];
  return {
    offered: () => engines.filter((engine) => images[engine] !== undefined),
    remedy: (engine) =>
      `\`spotter down\`, then \`spotter up --gpu --${engine}-image IMAGE\` (or SPOTTER_${engine.toUpperCase()}_IMAGE) gives it one.`,
    cannotGive: unwritable,
    agent: {
      command: ["python3", "-m", "spotter_agent"],
      environment: {
        ...Object.fromEntries(passedOn),
        PYTHONPATH: PLACES.agent,
        // Its folder is ours, and not to be written.
        PYTHONDONTWRITEBYTECODE: "1",
        SPOTTER_AGENT_OPTIONS: agentOptions(environment),
      },
    },
  };
}
