// The parts of the AWS SDK that the store uses: one module to load when the first call comes, and nothing
// else of it in a bundle.
export {
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
