import { DynamoStore } from "../../functions/aws/dynamo-store.ts";
import { storeContract } from "../contract/store/suite.ts";
import { dynamoTables } from "../fakes/dynamo.ts";
import { onMoto } from "./moto.ts";

onMoto("the store", (endpoint) => {
  storeContract("DynamoStore", async () => {
    const tables = dynamoTables(endpoint());
    const client = tables.client();
    const table = await tables.createTable();
    const open = () => new DynamoStore({ table, client, indexSlots: { status: "index1", time: "index2" } });
    return {
      store: open(),
      another: async () => open(),
      dispose: async () => tables.endClients(),
    };
  });
});
