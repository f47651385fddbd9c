import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import {
  CreateTableCommand,
  DynamoDBClient,
  type CreateTableCommandInput,
  type DynamoDBClientConfig,
} from "@aws-sdk/client-dynamodb";
import { ConfiguredRetryStrategy } from "@smithy/core/retry";
import dynalite from "dynalite";

/** A DynamoDB in memory, on this machine only. */
export interface FakeDynamo {
  endpoint: string;
  /** A client for it; its retries do not wait. Ended with the server. */
  client: (config?: DynamoDBClientConfig) => DynamoDBClient;
  /** A new, empty table with the keys and indexes of the stack's. Resolves to its name. */
  createTable: () => Promise<string>;
  stop: () => Promise<void>;
}

export const FAKE_AWS = {
  region: "eu-central-1",
  credentials: { accessKeyId: "test", secretAccessKey: "test" },
};

const RETRY_MS = 2;

export async function startDynamo(): Promise<FakeDynamo> {
  const server = dynalite({ createTableMs: 0 });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const tables = dynamoTables(endpoint);
  return {
    endpoint,
    ...tables,
    async stop() {
      tables.endClients();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Clients and tables of whatever speaks for DynamoDB at that address. */
export function dynamoTables(endpoint: string) {
  const clients: DynamoDBClient[] = [];
  const client = (config: DynamoDBClientConfig = {}) => {
    const retryStrategy = new ConfiguredRetryStrategy(6, RETRY_MS);
    const made = new DynamoDBClient({ ...FAKE_AWS, endpoint, retryStrategy, ...config });
    clients.push(made);
    return made;
  };
  return {
    client,
    async createTable() {
      const name = `state-${randomUUID()}`;
      await client().send(new CreateTableCommand({ TableName: name, ...STATE_TABLE }));
      return name;
    },
    endClients: () => clients.forEach((each) => each.destroy()),
  };
}

const INDEXES = ["index1", "index2", "index3", "index4"];

/** As infra/components/state-table.ts makes it; a test of the stack compares the two. */
export const STATE_TABLE: Omit<CreateTableCommandInput, "TableName"> = {
  BillingMode: "PAY_PER_REQUEST",
  KeySchema: [
    { AttributeName: "pk", KeyType: "HASH" },
    { AttributeName: "sk", KeyType: "RANGE" },
  ],
  AttributeDefinitions: ["pk", "sk", ...INDEXES.flatMap((name) => [`${name}pk`, `${name}sk`])].map(
    (name) => ({ AttributeName: name, AttributeType: "S" as const }),
  ),
  GlobalSecondaryIndexes: INDEXES.map((name) => ({
    IndexName: name,
    KeySchema: [
      { AttributeName: `${name}pk`, KeyType: "HASH" },
      { AttributeName: `${name}sk`, KeyType: "RANGE" },
    ],
    Projection: { ProjectionType: "ALL" },
  })),
};
