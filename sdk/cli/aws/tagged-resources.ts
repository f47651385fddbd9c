import { asked } from "./aws-failure.ts";
import { clientOptions, loadClient, type AwsOptions } from "./load-client.ts";

/** On everything of a stack; its value is the name of the stack. */
export const STACK_TAG = "spotter:stack";

export interface TaggedResource {
  arn: string;
  tags: Record<string, string>;
}

/**
 * What bears the tag of a stack in one region. AWS lists what was deleted for some minutes on.
 *
 * @param types Such as `lambda:function`. Default: all.
 * @throws SpotterError `aws_denied` | `aws_unreachable` | `aws_throttled` | `package_missing`
 */
export async function taggedResources(
  stack: string,
  options: AwsOptions,
  types: readonly string[] = [],
): Promise<TaggedResource[]> {
  const sdk = await loadClient(
    "@aws-sdk/client-resource-groups-tagging-api",
    () => import("@aws-sdk/client-resource-groups-tagging-api"),
  );
  return asked({ what: `Finding what belongs to ${stack}`, needs: "tag:GetResources" }, async () => {
    const client = new sdk.ResourceGroupsTaggingAPIClient(clientOptions(options));
    const found: TaggedResource[] = [];
    const pages = sdk.paginateGetResources(
      { client, pageSize: 100 },
      {
        TagFilters: [{ Key: STACK_TAG, Values: [stack] }],
        ...(types.length > 0 && { ResourceTypeFilters: [...types] }),
      },
    );
    for await (const { ResourceTagMappingList = [] } of pages) {
      for (const { ResourceARN: arn, Tags = [] } of ResourceTagMappingList) {
        if (arn === undefined) continue;
        found.push({ arn, tags: Object.fromEntries(Tags.map(({ Key = "", Value = "" }) => [Key, Value])) });
      }
    }
    return found;
  });
}
