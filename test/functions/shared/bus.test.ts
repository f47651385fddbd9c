import { expect, it, onTestFinished } from "vitest";
import type { CreatedKey } from "../../../sdk/schema/key.ts";
import type { RunDetail } from "../../../sdk/schema/run.ts";
import type { RunEventPage } from "../../../sdk/schema/event.ts";
import { changeRun } from "../../../functions/runs/records.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";
import { ADMIN_KEY } from "../../fakes/control-plane.ts";
import { sharedWorld, type SharedPlane } from "../../fakes/shared-planes.ts";

async function launch(plane: SharedPlane): Promise<string> {
  const { run } = await plane.json<RunDetail>("POST", "/runs", await preparedSpec(plane));
  return run.id;
}

const say = (plane: SharedPlane, id: string, message: string) =>
  changeRun(plane.control, id, (document) => ({
    document,
    events: [{ type: "log", level: "info", message }],
  }));

it("ends a long poll soon after another process told something", async () => {
  const world = sharedWorld(onTestFinished);
  const [one, other] = [world.open(), world.open()];
  const id = await launch(other);
  const { next } = await one.json<RunEventPage>("GET", `/runs/${id}/events?after=0`);
  let page: RunEventPage | undefined;
  const poll = one
    .json<RunEventPage>("GET", `/runs/${id}/events?after=${next}&waitMs=25000`)
    .then((answer) => (page = answer));
  await world.pass(5_000);
  expect(page).toBeUndefined();
  await say(other, id, "from elsewhere");
  await world.pass(1_500);
  expect(page?.events).toMatchObject([{ body: { message: "from elsewhere" } }]);
  await poll;
});

it("lets a long poll without news last as long as it was asked to", async () => {
  const world = sharedWorld(onTestFinished);
  const one = world.open();
  const id = await launch(one);
  const { next } = await one.json<RunEventPage>("GET", `/runs/${id}/events?after=0`);
  let isOver = false;
  const poll = one.json("GET", `/runs/${id}/events?after=${next}&waitMs=10000`).then(() => (isOver = true));
  await world.pass(9_900);
  expect(isOver).toBe(false);
  await world.pass(200);
  await poll;
});

it("passes events of other processes to a stream within a second and a half", async () => {
  const world = sharedWorld(onTestFinished);
  const [one, other] = [world.open(), world.open()];
  const id = await launch(other);
  const abort = new AbortController();
  const response = await one.app.request(`/runs/${id}/events/stream`, {
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
    signal: abort.signal,
  });
  let text = "";
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const reading = (async () => {
    for (let next = await reader?.read(); next?.done === false; next = await reader?.read())
      text += next.value;
  })();
  await world.pass(3_000);
  await say(other, id, "from elsewhere");
  await world.pass(1_500);
  expect(text).toContain("from elsewhere");
  await reader?.cancel();
  await world.pass(3_000);
  await reading;
});

it("ends a stream within two seconds after its key was revoked elsewhere", async () => {
  const world = sharedWorld(onTestFinished);
  const [one, other] = [world.open(), world.open()];
  const id = await launch(other);
  const { key, record } = await other.json<CreatedKey>("POST", "/keys", { name: "web", scope: "write" });
  const response = await one.app.request(`/runs/${id}/events/stream`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(response.status).toBe(200);
  let isOver = false;
  void response.text().then(() => (isOver = true));
  await world.pass(1_900);
  // Another request with the same key has just found it good.
  await one.control.keys.refresh();
  await other.json("DELETE", `/keys/${record.id}`);
  expect(isOver).toBe(false);
  await world.pass(2_000);
  expect(isOver).toBe(true);
});
