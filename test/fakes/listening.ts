import type { AddressInfo } from "node:net";
import { createHttpServer } from "../../functions/http/http-server.ts";
import type { TestPlane } from "./control-plane.ts";

/** Puts a control plane behind a real listener, as the daemon does. Resolves to its base URL. */
export async function listening(
  plane: Pick<TestPlane, "app" | "chat">,
  onEnd: (end: () => Promise<void>) => void,
): Promise<string> {
  const server = createHttpServer(plane);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onEnd(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
