import type { TestPlane } from "./control-plane.ts";

/** Signs a browser in by a one-time code. */
export async function session(
  plane: TestPlane,
  to = "/ui",
): Promise<{ cookie: string; response: Response; url: URL }> {
  const { url } = await plane.json<{ url: string }>("POST", "/ui-codes", { to });
  const response = await plane.app.request(url);
  const cookie = response.headers.get("set-cookie") ?? "";
  return { cookie: cookie.split(";")[0] ?? "", response, url: new URL(url) };
}
