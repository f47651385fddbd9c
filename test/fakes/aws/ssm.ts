import type * as ssm from "@aws-sdk/client-ssm";
import { Fault } from "./fault.ts";
import { arn } from "./ids.ts";
import { page } from "./pages.ts";
import type { Handlers } from "./server.ts";

interface Kept {
  value: string;
  type: ssm.ParameterType;
  tier: "Standard" | "Advanced";
  version: number;
  changedAtMs: number;
}

/** Parameters by their whole name. Characters, not bytes, are what the service counts. */
export type SsmParameters = Map<string, Kept>;

const STANDARD_LIMIT = 4096;
const ADVANCED_LIMIT = 8192;

/** Parameter Store: what is put, read and deleted by name or by path, with the limits of its tiers. */
export function ssmHandlers(parameters: SsmParameters, now: () => number): Handlers {
  const shown = (name: string, kept: Kept, decrypted: boolean | undefined): ssm.Parameter => ({
    Name: name,
    Type: kept.type,
    Value: kept.type === "SecureString" && decrypted !== true ? "encrypted" : kept.value,
    Version: kept.version,
    LastModifiedDate: new Date(kept.changedAtMs),
    ARN: arn("ssm", `parameter${name}`),
    DataType: "text",
  });

  return {
    PutParameter(input: ssm.PutParameterRequest): ssm.PutParameterResult {
      const { Name = "", Value = "", Type, Overwrite } = input;
      checkName(Name);
      if (Value === "") throw new Fault("ValidationException", "Value must have at least 1 character.");
      const before = parameters.get(Name);
      if (before !== undefined && Overwrite !== true) {
        throw new Fault("ParameterAlreadyExists", "The parameter already exists.");
      }
      if (before === undefined && Type === undefined) {
        throw new Fault("ValidationException", "A parameter type is required when you create a parameter.");
      }
      const tier = tierOf(input.Tier, Value, before?.tier);
      const version = (before?.version ?? 0) + 1;
      const type = Type ?? before?.type ?? "String";
      parameters.set(Name, { value: Value, type, tier, version, changedAtMs: now() });
      return { Version: version, Tier: tier };
    },
    GetParameters({ Names = [], WithDecryption }: ssm.GetParametersRequest): ssm.GetParametersResult {
      if (Names.length < 1 || Names.length > 10) {
        throw new Fault("ValidationException", "Names must have between 1 and 10 members.");
      }
      if (new Set(Names).size < Names.length) {
        throw new Fault("ValidationException", "Names must not contain duplicates.");
      }
      const found = Names.flatMap((name) => {
        const kept = parameters.get(name);
        return kept === undefined ? [] : [shown(name, kept, WithDecryption)];
      });
      return { Parameters: found, InvalidParameters: Names.filter((name) => !parameters.has(name)) };
    },
    GetParametersByPath({
      Path = "",
      Recursive,
      WithDecryption,
      MaxResults,
      NextToken,
    }: ssm.GetParametersByPathRequest): ssm.GetParametersByPathResult {
      const folder = Path.endsWith("/") ? Path : `${Path}/`;
      const inside = [...parameters].filter(([name]) => {
        return name.startsWith(folder) && (Recursive === true || !name.slice(folder.length).includes("/"));
      });
      const paging = { maxResults: MaxResults, nextToken: NextToken, most: 10, code: "ValidationException" };
      const { items, next } = page(inside, paging);
      return { Parameters: items.map(([name, kept]) => shown(name, kept, WithDecryption)), NextToken: next };
    },
    DeleteParameter({ Name = "" }: ssm.DeleteParameterRequest): ssm.DeleteParameterResult {
      if (!parameters.delete(Name)) throw new Fault("ParameterNotFound", "The parameter was not found.");
      return {};
    },
  };
}

function checkName(name: string): void {
  if (!/^[A-Za-z0-9_./-]{1,1011}$/.test(name) || /^\/?(aws|ssm)/i.test(name)) {
    throw new Fault("ValidationException", `Parameter name ${name} is not allowed.`);
  }
}

function tierOf(asked: ssm.ParameterTier | undefined, value: string, before: Kept["tier"] | undefined) {
  if (value.length > ADVANCED_LIMIT) {
    throw new Fault("ValidationException", "Value is larger than the limit of 8192 characters.");
  }
  const needed = value.length > STANDARD_LIMIT || before === "Advanced" ? "Advanced" : "Standard";
  if (asked === "Intelligent-Tiering") return needed;
  if (asked === "Advanced") return "Advanced";
  if (needed === "Standard") return "Standard";
  const why =
    before === "Advanced"
      ? "This parameter uses the advanced-parameter tier. You can't downgrade it to the standard tier."
      : "Standard tier parameters support a maximum parameter value of 4096 characters.";
  throw new Fault("ValidationException", why);
}
