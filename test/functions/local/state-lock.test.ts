import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { lockState } from "../../../functions/local/state-lock.ts";
import { useFolder } from "./use-folder.ts";

vi.setConfig({ testTimeout: 30_000 });
const folder = useFolder();
const owners: ChildProcess[] = [];
afterEach(async () => {
  for (const owner of owners.splice(0)) await kill(owner);
});

function startOwner() {
  const program = join(import.meta.dirname, "../../fixtures/local/state-owner.ts");
  const owner = spawn(process.execPath, [program, folder("home")], { stdio: ["ignore", "pipe", "ignore"] });
  owners.push(owner);
  return owner;
}

async function kill(owner: ChildProcess): Promise<void> {
  if (owner.exitCode !== null || owner.signalCode !== null) return;
  owner.kill("SIGKILL");
  await once(owner, "exit");
}

it("belongs to one process, and names it to the second", async () => {
  const owner = startOwner();
  await once(owner.stdout, "data");
  await expect(lockState(folder("home"))).rejects.toMatchObject({
    code: "state_locked",
    where: folder("home"),
    message: expect.stringContaining(`process id ${owner.pid}`) as string,
    hint: expect.stringMatching(/spotter down.*SPOTTER_HOME/) as string,
  });
});

it("is free again as soon as its owner is dead, however it died", async () => {
  const owner = startOwner();
  await once(owner.stdout, "data");
  await kill(owner);
  const lock = await lockState(folder("home"));
  lock.release();
  lock.release();
  expect(existsSync(folder("home", "daemon.owner"))).toBe(false);
});

it("goes to exactly one of several that want it at once, also over a dead owner's", async () => {
  const dead = startOwner();
  await once(dead.stdout, "data");
  await kill(dead);
  const rivals = Array.from({ length: 4 }, startOwner);
  const outcomes = await Promise.all(
    rivals.map((rival) =>
      Promise.race([
        once(rival.stdout, "data").then(() => "locked"),
        once(rival, "exit").then(() => "refused"),
      ]),
    ),
  );
  expect(outcomes.sort()).toEqual(["locked", "refused", "refused", "refused"]);
});

it("belongs to one owner within a process too", async () => {
  const lock = await lockState(folder("home"));
  await expect(lockState(folder("home"))).rejects.toMatchObject({
    message: expect.stringContaining(`process id ${process.pid}`) as string,
  });
  lock.release();
  (await lockState(folder("home"))).release();
});

it("says what is wrong with a folder that cannot be", async () => {
  writeFileSync(folder("file"), "");
  await expect(lockState(folder("file", "home"))).rejects.toMatchObject({ code: "state_unreadable" });
  await expect(lockState(folder("file"))).rejects.toMatchObject({ code: "state_unreadable" });
});
