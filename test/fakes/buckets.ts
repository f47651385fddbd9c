import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished, vi } from "vitest";

/**
 * S3 as far as buckets themselves go, for the clients of this process: they can be looked for, made and configured.
 * Ends with the test.
 */
export async function startBuckets(...names: string[]) {
  const buckets = new Set(names);
  /** As in `PUT /name?versioning`. */
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://s3");
    searchParams.delete("x-id");
    const about = [...searchParams.keys()].join("&");
    const name = pathname.slice(1).replace(/\/$/, "");
    asked.push(`${request.method} /${name}${about && `?${about}`}`);
    if (request.method === "PUT") buckets.add(name);
    request.resume().on("end", () => response.writeHead(buckets.has(name) ? 200 : 404).end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  vi.stubEnv("AWS_ENDPOINT_URL_S3", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return { asked, buckets };
}
