import type {
  AttributeValue,
  DynamoDBClient,
  DynamoDBClientConfig,
  QueryCommandInput,
  UpdateItemCommandInput,
} from "@aws-sdk/client-dynamodb";
import { awsError, awsErrorName } from "../aws-error.ts";
import { lazy, loadClient } from "../load-client.ts";
import type * as sdkModule from "./sdk.ts";

export type Item = Record<string, AttributeValue>;

/** The key of an item as the table has it. */
export interface ItemKey {
  pk: string;
  sk: string;
}

export interface Condition {
  expression: string;
  names?: Record<string, string>;
  values?: Item;
}

export interface TableOptions {
  table: string;
  /** Default: the environment's. */
  region?: string;
  /** Default: that of AWS, or what AWS_ENDPOINT_URL says. */
  endpoint?: string;
  /** Default: what the environment offers, as every AWS client finds it. */
  credentials?: DynamoDBClientConfig["credentials"];
  /** How often a request is sent before its failure counts. Default: 5. */
  maxAttempts?: number;
  /** After which time an attempt without an answer has failed. Default: 5 s. */
  timeoutMs?: number;
  /** Used instead of an own one, whatever else is said here, and left open on close. */
  client?: DynamoDBClient;
}

export type RangeQuery = Pick<
  QueryCommandInput,
  | "ExclusiveStartKey"
  | "ExpressionAttributeNames"
  | "ExpressionAttributeValues"
  | "IndexName"
  | "KeyConditionExpression"
  | "Limit"
  | "ProjectionExpression"
  | "ScanIndexForward"
  | "Select"
>;

/** With the waits between them at most 15 s, of a request that is throttled; then the caller is told. */
const MAX_ATTEMPTS = 5;
const CONNECT_TIMEOUT_MS = 2_000;
/** Answers come within milliseconds; a dead connection must not hold a request for minutes. */
const REQUEST_TIMEOUT_MS = 5_000;

const CALL = {
  what: "Using the table of the state",
  needs: "dynamodb:GetItem, PutItem, UpdateItem, DeleteItem and Query",
};

type Sdk = typeof sdkModule;

/** The five requests that the store makes of its table; every failure has a code of those that AWS can cause. */
export class Table {
  readonly name: string;
  readonly #options: TableOptions;
  readonly #opened = lazy(() => open(this.#options));

  constructor(options: TableOptions) {
    this.name = options.table;
    this.#options = options;
  }

  async get(key: ItemKey): Promise<Item | undefined> {
    const input = { TableName: this.name, Key: keyItem(key), ConsistentRead: true };
    const { Item } = await this.#send((sdk, client) => client.send(new sdk.GetItemCommand(input)));
    return Item;
  }

  /** False if there is an item under that key already. */
  async putNew(item: Item): Promise<boolean> {
    const input = { TableName: this.name, Item: item, ConditionExpression: "attribute_not_exists(pk)" };
    return this.#unlessConditionFails((sdk, client) => client.send(new sdk.PutItemCommand(input)));
  }

  /** The attributes asked for by `returning`, or undefined if the condition does not hold. */
  async update(
    key: ItemKey,
    change: Condition & { condition: string; returning: UpdateItemCommandInput["ReturnValues"] },
  ): Promise<Item | undefined> {
    const input: UpdateItemCommandInput = {
      TableName: this.name,
      Key: keyItem(key),
      UpdateExpression: change.expression,
      ConditionExpression: change.condition,
      ExpressionAttributeNames: change.names,
      ExpressionAttributeValues: change.values,
      ReturnValues: change.returning,
    };
    let attributes: Item = {};
    const isDone = await this.#unlessConditionFails(async (sdk, client) => {
      attributes = (await client.send(new sdk.UpdateItemCommand(input))).Attributes ?? {};
    });
    return isDone ? attributes : undefined;
  }

  /** False if the condition does not hold. */
  async delete(key: ItemKey, condition?: Condition): Promise<boolean> {
    const input = {
      TableName: this.name,
      Key: keyItem(key),
      ConditionExpression: condition?.expression,
      ExpressionAttributeNames: condition?.names,
      ExpressionAttributeValues: condition?.values,
    };
    return this.#unlessConditionFails((sdk, client) => client.send(new sdk.DeleteItemCommand(input)));
  }

  /** One answer of at most 1 MB; what follows it begins at `LastEvaluatedKey`. An index cannot be read consistently. */
  async query(query: RangeQuery) {
    const input = { TableName: this.name, ConsistentRead: query.IndexName === undefined, ...query };
    return this.#send((sdk, client) => client.send(new sdk.QueryCommand(input)));
  }

  async close(): Promise<void> {
    const opened = await this.#opened.take();
    if (this.#options.client === undefined) opened?.client.destroy();
  }

  async #unlessConditionFails(
    send: (sdk: Sdk, client: DynamoDBClient) => Promise<unknown>,
  ): Promise<boolean> {
    try {
      await this.#send(send);
      return true;
    } catch (error) {
      if (isConditionFailed(error)) return false;
      throw error;
    }
  }

  async #send<T>(send: (sdk: Sdk, client: DynamoDBClient) => Promise<T>): Promise<T> {
    try {
      const { sdk, client } = await this.#opened.get();
      return await send(sdk, client);
    } catch (error) {
      throw isConditionFailed(error) ? error : awsError(error, { ...CALL, where: this.name });
    }
  }
}

function keyItem({ pk, sk }: ItemKey): { pk: AttributeValue; sk: AttributeValue } {
  return { pk: { S: pk }, sk: { S: sk } };
}

/** A text or number attribute; "" where the item has none. */
export function textOf(item: Item, name: string): string {
  return item[name]?.S ?? item[name]?.N ?? "";
}

/** Whether a condition did not hold; the only failure that is part of the normal course. */
function isConditionFailed(error: unknown): boolean {
  return awsErrorName(error) === "ConditionalCheckFailedException";
}

/** Every page of a query, to its end. */
export async function* pagesOf(table: Table, query: RangeQuery) {
  let start = query.ExclusiveStartKey;
  do {
    const page = await table.query({ ...query, ...(start && { ExclusiveStartKey: start }) });
    yield page;
    start = page.LastEvaluatedKey;
  } while (start !== undefined);
}

async function open({
  region,
  endpoint,
  credentials,
  maxAttempts = MAX_ATTEMPTS,
  timeoutMs = REQUEST_TIMEOUT_MS,
  client,
}: TableOptions): Promise<{ sdk: Sdk; client: DynamoDBClient }> {
  const sdk = await loadClient("@aws-sdk/client-dynamodb", () => import("./sdk.ts"));
  const config: DynamoDBClientConfig = {
    ...(region !== undefined && { region }),
    ...(endpoint !== undefined && { endpoint }),
    ...(credentials !== undefined && { credentials }),
    maxAttempts,
    retryMode: "standard",
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: timeoutMs,
      throwOnRequestTimeout: true,
    },
  };
  return { sdk, client: client ?? new sdk.DynamoDBClient(config) };
}
