import { lambdaIsolates, NO_FILES } from "../contract/isolates/lambda.ts";
import { isolatesContract } from "../contract/isolates/suite.ts";

isolatesContract("lambda-isolates, whole", lambdaIsolates, { noFiles: NO_FILES });
