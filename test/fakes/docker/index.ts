import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("docker.py", import.meta.url));

export interface FakeImage {
  /** Variables that the image itself sets. */
  env?: Record<string, string>;
  /** A folder of programs that only this image has. */
  path?: string;
}

/** A `docker` for one test, see docker.py. */
export interface FakeDocker {
  /** The folder with the program, for a PATH. */
  bin: string;
  /** The program itself. */
  program: string;
  addImage(name: string, image?: FakeImage, where?: "images" | "remote"): void;
  /** Docker is down, refuses us, or has no GPUs. */
  break(how: "down" | "denied" | "no-gpu"): void;
  mend(how: "down" | "denied" | "no-gpu"): void;
  /** What `docker info` says. */
  setInfo(info: Record<string, unknown>): void;
  /** Every call so far, as its words. */
  calls(): string[][];
  containers(): string[];
  /** What a container was made of. */
  spec(name: string): { labels: Record<string, string>; words: string[]; argv: string[] };
  /** Labels of the images that were made of containers. */
  imageLabels(): Record<string, string>[];
  /** Ends a container for want of memory. */
  killForMemory(name: string): void;
}

export function fakeDocker(folder: string): FakeDocker {
  const state = join(folder, "docker-state");
  const bin = join(folder, "docker-bin");
  for (const path of [bin, ...["images", "remote", "containers"].map((name) => join(state, name))]) {
    mkdirSync(path, { recursive: true });
  }
  const program = join(bin, "docker");
  // It needs nothing but its own library, and is called often.
  const flags = `-ES -X pycache_prefix='${join(state, "compiled")}'`;
  writeFileSync(
    program,
    `#!/bin/sh\nFAKE_DOCKER='${state}' exec '${pythonProgram()}' ${flags} '${PROGRAM}' "$@"\n`,
  );
  chmodSync(program, 0o755);
  const fake: FakeDocker = {
    bin,
    program,
    addImage(name, { env = {}, path } = {}, where = "images") {
      const file = `${name.replaceAll(/\W/g, "_")}.json`;
      const image = { id: `sha256:of-${name}`, names: [name], env, ...(path && { path }) };
      writeFileSync(join(state, where, file), JSON.stringify(image));
    },
    break: (how) => writeFileSync(join(state, how), ""),
    mend: (how) => rmSync(join(state, how), { force: true }),
    setInfo: (info) => writeFileSync(join(state, "info.json"), JSON.stringify(info)),
    calls() {
      if (!existsSync(join(state, "calls"))) return [];
      const lines = readFileSync(join(state, "calls"), "utf8").trim().split("\n");
      return lines.map((line) => JSON.parse(line) as string[]);
    },
    containers: () => readdirSync(join(state, "containers")),
    spec: (name) =>
      JSON.parse(readFileSync(join(state, "containers", name, "spec.json"), "utf8")) as ReturnType<
        FakeDocker["spec"]
      >,
    imageLabels() {
      const files = readdirSync(join(state, "images"));
      const images = files.map(
        (file) => JSON.parse(readFileSync(join(state, "images", file), "utf8")) as object,
      );
      return images.flatMap((image) => ("labels" in image ? [image.labels as Record<string, string>] : []));
    },
    killForMemory(name) {
      writeFileSync(join(state, "containers", name, "oom"), "");
      process.kill(Number(readFileSync(join(state, "containers", name, "pid"), "utf8")), "SIGKILL");
    },
  };
  fake.setInfo({
    ServerVersion: "28.2.2",
    Runtimes: { nvidia: {}, runc: {} },
    SecurityOptions: ["name=seccomp"],
  });
  return fake;
}

let python: string | undefined;

/** Itself, and not a script on the PATH that looks for one at each call. */
function pythonProgram(): string {
  python ??= execFileSync("python3", ["-c", "import sys; print(sys.executable)"], {
    encoding: "utf8",
  }).trim();
  return python;
}
