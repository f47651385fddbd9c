import { expect, it, vi } from "vitest";
import { lazy, loadClient } from "../../../functions/aws/load-client.ts";

it("says which package is missing, and how to get it", async () => {
  await expect(
    loadClient("@aws-sdk/client-x", () => Promise.reject(new Error("no such module"))),
  ).rejects.toMatchObject({
    code: "package_missing",
    where: "@aws-sdk/client-x",
    hint: "npm install @aws-sdk/client-x",
  });
});

it("loads once for all, and again only after it failed or was taken", async () => {
  const load = vi.fn<() => Promise<number>>();
  load
    .mockRejectedValueOnce(new Error("too many open files"))
    .mockResolvedValueOnce(1)
    .mockResolvedValueOnce(2);
  const loaded = lazy(load);
  expect(await loaded.take()).toBeUndefined();
  const failed = await Promise.allSettled([loaded.get(), loaded.get()]);
  expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await Promise.all([loaded.get(), loaded.get()])).toEqual([1, 1]);
  expect(load).toHaveBeenCalledTimes(2);
  expect([await loaded.take(), await loaded.take(), await loaded.get()]).toEqual([1, undefined, 2]);
});

it("takes what could not be loaded as nothing", async () => {
  const loaded = lazy(() => Promise.reject(new Error("no")));
  const asked = loaded.get();
  expect(await loaded.take()).toBeUndefined();
  await expect(asked).rejects.toThrow("no");
});
