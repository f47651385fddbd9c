import { randomUUID } from "node:crypto";
import { SsmSecrets } from "../../functions/aws/ssm-secrets.ts";
import { secretsContract } from "../contract/secrets/suite.ts";
import { fakeClock } from "../fakes/clock.ts";
import { FAKE_AWS } from "../fakes/dynamo.ts";
import { onMoto } from "./moto.ts";

onMoto("secrets", (endpoint) => {
  secretsContract("SsmSecrets", async () => {
    const stack = `spotter-${randomUUID()}`;
    const secrets = new SsmSecrets({ stack, clock: fakeClock(), endpoint: endpoint(), ...FAKE_AWS });
    return {
      secrets,
      dispose: () => secrets.close(),
    };
  });
});
