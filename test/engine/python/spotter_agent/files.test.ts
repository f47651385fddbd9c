import { describe, expect, it, onTestFinished } from "vitest";
import { answer } from "../../fake-control-plane.ts";
import { slimeJob, startAgent } from "./agent.ts";
import { hasPython } from "./has-python.ts";

const HALF = 100_000;

describe.runIf(hasPython)("files of a job", () => {
  it("are gone on with wherever a connection breaks, for as long as more comes", async () => {
    const weights = Buffer.from("0123456789".repeat(HALF / 2));
    const ranges: (string | undefined)[] = [];
    const run = await startAgent(onTestFinished, (plane) => slimeJob(plane), {
      options: { give_up_after_s: 0.5 },
      before: (plane) => {
        const file = plane.addFile("model.safetensors", weights);
        Object.assign(plane.job ?? {}, { modelFiles: [file] });
        plane.intercept = (request, response) => {
          if (!file.url.endsWith(request.url ?? "-")) return false;
          const { range } = request.headers;
          ranges.push(range);
          const start = Number(/bytes=(\d+)-/.exec(range ?? "")?.[1] ?? 0);
          response.writeHead(range === undefined ? 200 : 206, {
            "content-length": String(weights.length - start),
          });
          const piece = weights.subarray(start, start + HALF);
          // Slower together than the time after which an agent gives up on one that stays away.
          setTimeout(() => response.write(piece, () => response.destroy()), 150);
          return true;
        };
      },
    });
    expect(await run.ended, run.stderr()).toBe(0);
    expect(ranges).toEqual([undefined, ...[1, 2, 3, 4].map((n) => `bytes=${n * HALF}-`)]);
  });

  it("that stay damaged end the job, with the file's name", async () => {
    const run = await startAgent(onTestFinished, (plane) => slimeJob(plane), {
      before: (plane) => {
        const file = plane.addFile("model.safetensors", "right");
        Object.assign(plane.job ?? {}, { modelFiles: [file] });
        plane.intercept = (request, response) => {
          if (!file.url.endsWith(request.url ?? "-")) return false;
          answer(response, 200, Buffer.from("wrong"));
          return true;
        };
      },
    });
    expect(await run.ended).toBe(1);
    expect(run.exit()).toMatchObject({ failure: { code: "blob_corrupt", where: "model.safetensors" } });
  });
});
