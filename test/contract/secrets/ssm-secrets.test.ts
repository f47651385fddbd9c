import { SsmSecrets } from "../../../functions/aws/ssm-secrets.ts";
import { fakeClock } from "../../fakes/clock.ts";
import { fakeSsm } from "../../fakes/ssm.ts";
import { secretsContract } from "./suite.ts";

secretsContract("SsmSecrets", async () => {
  const ssm = await fakeSsm();
  const secrets = new SsmSecrets({ stack: "spotter-test", clock: fakeClock(), ...ssm.clientConfig });
  return {
    secrets,
    dispose: async () => {
      await secrets.close();
      await ssm.close();
    },
  };
});
