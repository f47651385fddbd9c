import {
  CONTAINER_GID,
  CONTAINER_UID,
  nodeCommand,
  programVariables,
  pythonCommand,
  type Program,
} from "../bootstrap/container-program.ts";
import { IMAGES, type GpuEngine } from "../config/images.ts";

/** What a container is, and what it does first. */
export interface ContainerStart {
  image: string;
  user: string;
  command: string[];
  /** The image's own entry would run something else with the command. */
  replacesEntry?: true;
  environment: { name: string; value: string }[];
}

/** What addresses of network.ts begin with. */
const SURROUNDINGS = { network: "10.42." };
/** Without rights in the container, and in a host's network without the host's role. */
const USER = `${CONTAINER_UID}:${CONTAINER_GID}`;
/** Root in the container, and for the host one of its containers all the same. */
const ROOT = `0:${CONTAINER_GID}`;

/** The embedded engine, or another program in Node. */
export function nodeStart(program: Program): ContainerStart {
  return {
    image: IMAGES.node,
    user: USER,
    command: nodeCommand(),
    environment: programVariables(program, SURROUNDINGS),
  };
}

/** The agent beside another maker's engine, in the image of that one. */
export function engineStart(engine: GpuEngine, image: string, agent: Program): ContainerStart {
  const environment = programVariables(agent, SURROUNDINGS);
  // vLLM's entry is `vllm serve`; it works for any user who has a home.
  if (engine === "vllm")
    return {
      image,
      user: USER,
      command: pythonCommand({ isRoot: false }),
      replacesEntry: true,
      environment,
    };
  // slime lies in /root, which is root's alone, and what a user adds to the image is installed for all.
  return { image, user: ROOT, command: pythonCommand({ isRoot: true }), environment };
}
