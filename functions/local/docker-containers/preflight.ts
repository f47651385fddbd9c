import * as z from "zod/mini";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import { DockerError, type DockerCli } from "./docker-cli.ts";
import { parseJson } from "../parse-json.ts";

const ANSWER_MS = 8_000;
/** A daemon is as the one before it until somebody says otherwise. */
const WITHOUT = "Without GPUs: `spotter up`.";

/** What `docker info` says that matters here. */
const dockerInfo = z.object({
  Runtimes: z.nullish(z.record(z.string(), z.unknown())),
  SecurityOptions: z.nullish(z.array(z.string())),
});

/**
 * Whether containers with GPUs can be started here at all.
 *
 * @throws SpotterError `docker_missing`: no docker, none that answers us, or one that cannot share this machine's
 * network; `gpu_missing`: it has no runtime of NVIDIA
 */
export async function checkDocker(docker: DockerCli, environment: NodeJS.ProcessEnv): Promise<void> {
  const host = environment["DOCKER_HOST"];
  if (host !== undefined && host !== "" && !host.startsWith("unix://")) {
    throw new SpotterError("docker_missing", `DOCKER_HOST is ${host}: that is Docker of another machine.`, {
      where: "DOCKER_HOST",
      hint: `Unset it. Run \`spotter up --gpu\` on the machine that has the GPUs. ${WITHOUT}`,
    });
  }
  const info = await infoOf(docker);
  if (info.SecurityOptions?.some((option) => option.includes("name=rootless")) === true) {
    throw new SpotterError("docker_missing", "Docker runs rootless: its network is not this machine's.", {
      hint: `Use the system's Docker: \`docker context use default\`. ${WITHOUT}`,
    });
  }
  if (info.Runtimes?.["nvidia"] !== undefined) return;
  throw new SpotterError("gpu_missing", "Docker has no NVIDIA runtime: its containers would see no GPU.", {
    hint: `Install the NVIDIA Container Toolkit, then \`sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker\`. ${WITHOUT}`,
  });
}

async function infoOf(docker: DockerCli): Promise<z.infer<typeof dockerInfo>> {
  let words: string;
  try {
    const text = await docker.call(["info", "--format", "{{json .}}"], { timeoutMs: ANSWER_MS });
    const info = dockerInfo.safeParse(parseJson(text));
    if (info.success) return info.data;
    words = `\`docker info\` wrote ${text.trim().slice(0, 200)}`;
  } catch (error) {
    if (SpotterError.is(error) && error.code === "docker_missing") throw error;
    words = error instanceof DockerError ? error.words : SpotterError.from(error).message;
  }
  throw new SpotterError("docker_missing", `Docker does not answer: ${words}`, {
    hint: /permission denied/i.test(words)
      ? `Let this user use it: \`sudo usermod -aG docker $USER\`, then log in again. ${WITHOUT}`
      : `Start it: \`sudo systemctl start docker\`; \`docker info\` must work for this user. ${WITHOUT}`,
  });
}
