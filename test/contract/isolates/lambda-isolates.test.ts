import { lambdaIsolates, NO_FILES } from "./lambda.ts";
import { isolatesContract } from "./suite.ts";

isolatesContract("lambda-isolates", lambdaIsolates, {
  noFiles: NO_FILES,
  hostileIn: "test/long/lambda-isolates.test.ts",
});
