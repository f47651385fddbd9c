import { afterAll, beforeAll, expect, it } from "vitest";
import { DynamoStore } from "../../../functions/aws/dynamo-store.ts";
import { recordCommands, type SentCommand } from "../../fakes/dynamo-disturbed.ts";
import { startDynamo, type FakeDynamo } from "../../fakes/dynamo.ts";
import { storeContract } from "./suite.ts";

let dynamo: FakeDynamo;
const sent: SentCommand[] = [];
beforeAll(async () => {
  dynamo = await startDynamo();
});
afterAll(async () => {
  await dynamo.stop();
});

storeContract("DynamoStore", async () => {
  const client = dynamo.client();
  recordCommands(client, sent);
  const table = await dynamo.createTable();
  const open = () => new DynamoStore({ table, client, indexSlots: { status: "index1", time: "index2" } });
  return {
    store: open(),
    another: async () => open(),
    dispose: async () => client.destroy(),
  };
});

// After all of the above: what it took is what the policies have to allow, and what every emulator knows.
it("sends single-item requests and queries only", () => {
  const names = [...new Set(sent.map(({ name }) => name))].sort();
  expect(names).toEqual([
    "DeleteItemCommand",
    "GetItemCommand",
    "PutItemCommand",
    "QueryCommand",
    "UpdateItemCommand",
  ]);
  const inputs = sent.map(({ input }) => input);
  expect(inputs.filter((input) => "ReturnValuesOnConditionCheckFailure" in input)).toEqual([]);
  expect(inputs.filter((input) => "FilterExpression" in input)).toEqual([]);
  // Every read of the table itself is a consistent one.
  const reads = sent.filter(({ name }) => name === "GetItemCommand" || name === "QueryCommand");
  for (const { input } of reads) expect(input["ConsistentRead"]).toBe(input["IndexName"] === undefined);
});
