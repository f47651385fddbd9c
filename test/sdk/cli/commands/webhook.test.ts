import { expect, it } from "vitest";
import { fakeServer } from "../../fake-server.ts";
import { runCli } from "../run-cli.ts";

const record = {
  v: 1,
  id: "6c1f0a2b3d4e5f60",
  url: "https://example.com/hook",
  events: ["run.stalled"],
  secret: "HOOK_KEY",
  createdAtMs: 1,
};

it("sets, lists and removes the webhooks of every run", async () => {
  const { url, requests } = await fakeServer({
    "PUT /webhooks": () => record,
    "GET /webhooks": () => ({ items: [record] }),
    "DELETE /webhooks/6c1f0a2b3d4e5f60": (_, response) => void response.writeHead(204).end(),
  });
  const set = await runCli("webhook set https://example.com/hook --event run.stalled --secret HOOK_KEY", {
    url,
  });
  expect(set.out).toBe(
    "https://example.com/hook is told of run.stalled of every run, signed with HOOK_KEY.\n",
  );
  expect(JSON.parse(requests[0]?.body ?? "")).toEqual({
    url: "https://example.com/hook",
    events: ["run.stalled"],
    secret: "HOOK_KEY",
  });
  expect((await runCli("webhook list", { url })).out).toMatch(/6c1f0a2b3d4e5f60 +https.*HOOK_KEY/);
  expect((await runCli("webhook remove 6c1f0a2b3d4e5f60", { url })).out).toBe("Removed 6c1f0a2b3d4e5f60.\n");
  expect((await runCli("webhook set https://x --event run.never", { url })).code).toBe(2);
});
