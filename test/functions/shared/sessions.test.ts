import { expect, it, onTestFinished } from "vitest";
import { sharedWorld, type SharedPlane } from "../../fakes/shared-planes.ts";

const open = async (plane: SharedPlane, path: string, cookie?: string): Promise<Response> =>
  plane.app.request(path, cookie === undefined ? {} : { headers: { cookie } });

async function link(plane: SharedPlane): Promise<string> {
  const { url } = await plane.json<{ url: string }>("POST", "/ui-codes", {});
  return url;
}

it("opens a browser's session in one process with the code of another, and all others know it", async () => {
  const world = sharedWorld(onTestFinished);
  const [one, other, third] = [world.open(), world.open(), world.open()];
  const url = await link(one);
  const response = await open(other, url);
  const cookie = response.headers.get("set-cookie")?.split(";")[0] ?? "";
  expect((await open(third, "/ui", cookie)).status).toBe(200);
  expect((await open(third, "/ui", `${cookie}0`)).status).toBe(401);
  expect((await open(third, "/ui")).status).toBe(401);
  await world.pass(1_000);
  world.clock.advance(24 * 60 * 60_000);
  expect((await open(third, "/ui", cookie)).status).toBe(401);
});

it("takes a code once, whoever is asked at the same time, and not after a minute", async () => {
  const world = sharedWorld(onTestFinished);
  const planes = [world.open(), world.open(), world.open()];
  const url = await link(world.open());
  const answers = await Promise.all(planes.map((plane) => open(plane, url)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
  const late = await link(world.open());
  world.clock.advance(60_000);
  expect((await open(world.open(), late)).status).toBe(401);
});

it("stores nothing that opens anything, and keeps nothing that is old", async () => {
  const world = sharedWorld(onTestFinished);
  const plane = world.open();
  const url = new URL(await link(plane));
  const code = url.searchParams.get("code") ?? "";
  const stored = async () => (await world.store.query("session-codes")).items;
  expect(JSON.stringify(await stored())).not.toContain(code);
  await link(plane);
  expect(await stored()).toHaveLength(2);
  world.clock.advance(60_000);
  await link(plane);
  expect(await stored()).toHaveLength(1);
});

it("sends the cookie over TLS alone where there is any", async () => {
  const world = sharedWorld(onTestFinished);
  const cookieOf = async (publicUrl: string) => {
    const plane = world.open({ config: { publicUrl: () => publicUrl } });
    const { pathname, search } = new URL(await link(plane));
    return (await open(plane, `${publicUrl}${pathname}${search}`)).headers.get("set-cookie");
  };
  expect(await cookieOf("https://spotter.example")).toContain("; Secure");
  expect(await cookieOf("http://127.0.0.1:7717")).not.toContain("Secure");
});
