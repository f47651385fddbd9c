import { expect, it } from "vitest";
import { allowedHosts } from "../../../../functions/lambda/user-code-host/allowed-hosts.ts";
import { guardedFetch } from "../../../../functions/lambda/user-code-host/guarded-fetch.ts";

/** A network of one answer a request; what was sent is kept. */
function network(...answers: Response[]) {
  const sent: { url: string; method: string; headers: Record<string, string>; body: string }[] = [];
  const fetch = guardedFetch(allowedHosts(["a.test", "b.test"]), async (input) => {
    const request = input as Request;
    const { url, method } = request;
    sent.push({ url, method, headers: Object.fromEntries(request.headers), body: await request.text() });
    return answers.shift() ?? new Response("end");
  });
  return { fetch, sent };
}

const redirect = (status: number, location: string) => new Response(null, { status, headers: { location } });

it("answers 403 with the reason, and asks nobody", async () => {
  const { fetch, sent } = network();
  for (const url of [
    "http://c.test/",
    "https://169.254.169.254/",
    "data:text/plain,x",
    "file:///etc/passwd",
  ]) {
    const response = await fetch(url);
    expect(response.status).toBe(403);
    expect(await response.json()).toHaveProperty("error");
  }
  expect(sent).toEqual([]);
});

it("follows redirects among allowed hosts only", async () => {
  const { fetch, sent } = network(redirect(302, "http://b.test/x"), redirect(307, "http://c.test/"));
  expect((await fetch("http://a.test/")).status).toBe(403);
  expect(sent.map(({ url }) => url)).toEqual(["http://a.test/", "http://b.test/x"]);
});

it("sends a body again where the status says so, and credentials to their own origin only", async () => {
  const { fetch, sent } = network(
    redirect(307, "/again"),
    redirect(308, "http://b.test/"),
    redirect(303, "/done"),
  );
  const headers = { authorization: "Bearer x", "content-type": "text/plain", "x-more": "1" };
  const response = await fetch("http://a.test/", { method: "POST", body: "text", headers });
  expect(await response.text()).toBe("end");
  const seen = sent.map(({ url, method, body, headers: { authorization } }) => [
    url,
    method,
    body,
    authorization,
  ]);
  expect(seen).toEqual([
    ["http://a.test/", "POST", "text", "Bearer x"],
    ["http://a.test/again", "POST", "text", "Bearer x"],
    ["http://b.test/", "POST", "text", undefined],
    ["http://b.test/done", "GET", "", undefined],
  ]);
  expect(sent[3]?.headers).toEqual({ "x-more": "1" });
});

it("leaves redirects to code that asks for them, and ends circles", async () => {
  const manual = network(redirect(302, "http://c.test/"));
  expect((await manual.fetch("http://a.test/", { redirect: "manual" })).status).toBe(302);
  const error = network(redirect(302, "http://b.test/"));
  await expect(error.fetch("http://a.test/", { redirect: "error" })).rejects.toThrow("unexpected redirect");
  const circle = network(...Array.from({ length: 50 }, () => redirect(302, "http://a.test/")));
  await expect(circle.fetch("http://a.test/")).rejects.toThrow("too many redirects");
  expect(circle.sent).toHaveLength(21);
});
