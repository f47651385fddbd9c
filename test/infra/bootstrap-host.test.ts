import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { CONTAINER_GID, CONTAINER_UID } from "../../infra/bootstrap/container-program.ts";
import { userData } from "../../infra/bootstrap/user-data.ts";

const root = mkdtempSync(join(tmpdir(), "spotter-guard-"));
afterAll(() => rmSync(root, { recursive: true }));

const GUARD = join(import.meta.dirname, "../../infra/bootstrap/host-guard.sh");
const ARN = "arn:aws:ecs:eu-central-1:123456789012:container-instance/test/0123";

/**
 * The host around the guard: each program notes its call, and answers from a file in the host's folder. They are
 * functions that the shell has before it begins, as a program of its own for each call takes long.
 */
const PROGRAMS: Record<string, string> = {
  docker: 'if [ "$1" = ps ]; then cat "$HOST/containers"; else note docker "$@"; fi',
  shutdown: 'note shutdown "$@"',
  aws: 'note aws "$@"; . "$HOST/meanwhile"; case "$*" in *"$(cat "$HOST/refused")"*) return 255 ;; esac',
  curl: `case "$*" in
    */v1/tasks*) cat "$HOST/tasks" ;;
    */v1/metadata*) echo '{"ContainerInstanceArn":"${ARN}"}' ;;
    */api/token*) echo token ;;
    */instance-id*) echo i-0123 ;;
    *) return "$(cat "$HOST/network")" ;;
  esac`,
  note: 'echo "$@" >>"$HOST/calls"',
};

let host: string;
let upSeconds = 0;
beforeEach(() => {
  host = mkdtempSync(join(root, "host-"));
  upSeconds = 60;
  const functions = Object.entries(PROGRAMS).map(([name, body]) => `${name}() { ${body}; }\n`);
  set({ programs: functions.join(""), meanwhile: "" });
  set({ containers: "", tasks: '{"Tasks":[]}', network: "0", refused: "nothing" });
});

function set(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(host, name), text);
}

/** One call of the timer, some minutes later; what it did. */
function after(minutes: number, environment: Record<string, string> = {}): string[] {
  upSeconds += minutes * 60;
  set({ uptime: `${upSeconds}.52 ${2 * upSeconds}.10\n` });
  rmSync(join(host, "calls"), { force: true });
  const { status, stderr } = spawnSync("bash", [GUARD], {
    encoding: "utf8",
    env: {
      PATH: process.env["PATH"],
      BASH_ENV: join(host, "programs"),
      HOST: host,
      UPTIME: join(host, "uptime"),
      STATE: join(host, "state"),
      REGION: "eu-central-1",
      CLUSTER: "test",
      IDLE_MINUTES: "10",
      MAX_HOURS: "24",
      UNREACHABLE_MINUTES: "30",
      ...environment,
    },
  });
  expect(stderr).toBe("");
  expect(status).toBe(0);
  const calls = join(host, "calls");
  return existsSync(calls) ? readFileSync(calls, "utf8").trim().split("\n") : [];
}

const BUSY =
  '{"Tasks":[{"Arn":"a","DesiredStatus":"STOPPED","KnownStatus":"STOPPED"},{"KnownStatus":"NONE"}]}';
const DRAIN = `aws ecs update-container-instances-state --region eu-central-1 --cluster test --container-instances ${ARN} --status`;
const LEAVE =
  "aws autoscaling terminate-instance-in-auto-scaling-group --region eu-central-1 --instance-id i-0123";
const OFF = "shutdown --poweroff now";

describe("a GPU host", () => {
  it("without work ends itself: drained, out of its group, then off", () => {
    expect(after(0)).toEqual([]);
    expect(after(9)).toEqual([]);
    expect(after(1)).toEqual([`${DRAIN} DRAINING`, `${LEAVE} --should-decrement-desired-capacity`, OFF]);
  });

  it.each([
    ["a container that runs", { containers: "0123abc\n" }],
    ["a task whose image is being pulled", { tasks: BUSY }],
    ["a container, while the agent does not answer", { containers: "0123abc\n", tasks: "" }],
  ])("with %s lives on, and counts anew when that is over", (_what, files) => {
    after(0);
    set(files);
    expect(after(9)).toEqual([]);
    expect(after(60)).toEqual([]);
    set({ containers: "", tasks: '{"Tasks":[]}' });
    expect(after(9)).toEqual([]);
    expect(after(1)).toContain(OFF);
  });

  it("whose agent never came up is no host anybody can use: it ends itself", () => {
    set({ tasks: "" });
    after(0);
    expect(after(10)).toContain(OFF);
  });

  it("that gets work while it is drained takes it, and is no longer drained", () => {
    after(0);
    set({ meanwhile: `echo '${BUSY}' >"$HOST/tasks"` });
    expect(after(10)).toEqual([`${DRAIN} DRAINING`, `${DRAIN} ACTIVE`]);
    expect(after(1)).toEqual([]);
  });

  it("of its greatest age ends whatever runs, which is told first", () => {
    set({ containers: "0123abc\n4567def\n" });
    after(0);
    expect(after(23 * 60)).toEqual([]);
    expect(after(59)).toEqual([
      `${DRAIN} DRAINING`,
      "docker stop --time 120 0123abc 4567def",
      `${LEAVE} --should-decrement-desired-capacity`,
      OFF,
    ]);
  });

  it("that does not reach AWS for half an hour ends: nobody could stop it", () => {
    set({ containers: "0123abc\n" });
    after(0);
    set({ network: "28" });
    expect(after(29)).toEqual([]);
    set({ network: "0" });
    expect(after(1)).toEqual([]);
    set({ network: "28", refused: "aws" });
    expect(after(29)).toEqual([]);
    expect(after(1)).toContain(OFF);
  });

  it("leaves its group also where that cannot want fewer, and ends where nothing is allowed", () => {
    after(0);
    set({ refused: "--should-decrement" });
    expect(after(10).slice(-2)).toEqual([`${LEAVE} --no-should-decrement-desired-capacity`, OFF]);
    set({ refused: "aut" });
    expect(after(1).at(-1)).toBe(OFF);
  });

  it("of Batch is left to Batch but for its age", () => {
    const batch = { CLUSTER: "", IDLE_MINUTES: "0" };
    after(0, batch);
    expect(after(120, batch)).toEqual([]);
    expect(after(22 * 60, batch)).toEqual([OFF]);
  });
});

describe("what a host does when it starts", () => {
  const params = { region: "eu-central-1", cluster: "test", idleMinutes: 7, maxHours: 48 };
  const read = (data: string) => Buffer.from(data, "base64").toString();

  it("is a message that Batch can add to, with a script that is right", () => {
    const text = read(userData(params));
    expect(text).toMatch(
      /^MIME-Version: 1.0\nContent-Type: multipart\/mixed; boundary="==spotter=="\n\n--==spotter==\n/,
    );
    expect(text).toMatch(/\n--==spotter==--\n$/);
    const script = text
      .split("\n\n")
      .slice(2)
      .join("\n\n")
      .replace(/--==spotter==--\n$/, "");
    expect(script).toMatch(/^#!\/bin\/bash\n/);
    expect(spawnSync("bash", ["-n"], { input: script, encoding: "utf8" }).stderr).toBe("");
    // EC2 takes 16 kB before base64.
    expect(text.length).toBeLessThan(16_384);
  });

  it("joins its cluster and sets its guard", () => {
    const text = read(userData(params));
    for (const line of [
      "ECS_CLUSTER=test",
      "ECS_ENABLE_GPU_SUPPORT=true",
      "CLUSTER=test",
      "IDLE_MINUTES=7",
      "MAX_HOURS=48",
    ])
      expect(text).toContain(`\n${line}\n`);
    expect(text).toContain(readFileSync(GUARD, "utf8").trimEnd());
  });

  it.each([params, { ...params, cluster: null }])(
    "keeps its role from the user and the group that containers are, and from networks of their own",
    (each) => {
      const text = read(userData(each));
      for (const owner of [`--uid-owner ${CONTAINER_UID}`, `--gid-owner ${CONTAINER_GID}`])
        expect(text).toContain(
          `\niptables --insert OUTPUT --destination 169.254.169.254 --match owner ${owner} --jump REJECT\n`,
        );
      expect(text).toContain("\nECS_AWSVPC_BLOCK_IMDS=true\n");
      expect(text).toContain("\nECS_CONTAINER_STOP_TIMEOUT=120s\n");
    },
  );

  it("leaves the cluster and hosts without work to Batch, where it is Batch's", () => {
    const text = read(userData({ ...params, cluster: null }));
    expect(text).not.toContain("ECS_CLUSTER");
    expect(text).toContain("\nCLUSTER=\nIDLE_MINUTES=0\nMAX_HOURS=48\n");
  });
});
