import type { EcsApi } from "./apis.ts";
import { inHundreds } from "./pages.ts";

/** The EC2 instance behind each container instance; those that are gone are left out. */
export async function ec2Instances(
  api: EcsApi,
  instanceArns: Iterable<string>,
): Promise<Map<string, string>> {
  const byCluster = Map.groupBy(new Set(instanceArns), clusterOf);
  const found = new Map<string, string>();
  for (const [cluster, arns] of byCluster) {
    await inHundreds(arns, async (containerInstances) => {
      const answer = await api.describeContainerInstances({ cluster, containerInstances });
      for (const { containerInstanceArn, ec2InstanceId } of answer.containerInstances ?? [])
        if (containerInstanceArn !== undefined && ec2InstanceId !== undefined)
          found.set(containerInstanceArn, ec2InstanceId);
      return [];
    });
  }
  return found;
}

/** arn:aws:ecs:REGION:ACCOUNT:container-instance/CLUSTER/ID: Batch keeps clusters of its own. */
export function clusterOf(instanceArn: string): string {
  return instanceArn.split("/").at(-2) ?? "";
}
