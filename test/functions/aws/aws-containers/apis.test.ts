import { createServer, type AddressInfo, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { awsApis } from "../../../../functions/aws/aws-containers/apis.ts";

it("gives up connections that went dead, and starts no second job for one", async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const apis = awsApis({
    region: "us-east-1",
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
    timeoutMs: 50,
  });
  const [ecs, batch] = await Promise.all([apis.ecs(), apis.batch()]);
  await expect(ecs.listTasks({})).rejects.toMatchObject({ name: "TimeoutError" });
  const before = sockets.length;
  await expect(batch.submitJob({ jobName: "a", jobQueue: "b", jobDefinition: "c" })).rejects.toMatchObject({
    name: "TimeoutError",
  });
  expect(sockets.length - before).toBe(1);
});
