import type { EcsApi } from "./apis.ts";
import { allPages, inHundreds } from "./pages.ts";

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

/** The container instances of this cluster on that EC2 instance, whether or not anything runs there. */
export async function instancesOn(api: EcsApi, cluster: string, ec2Id: string): Promise<string[]> {
  const filter = `ec2InstanceId == ${ec2Id}`;
  return await allPages(async (nextToken) => {
    const answer = await api.listContainerInstances({ cluster, filter, nextToken });
    return { items: answer.containerInstanceArns, nextToken: answer.nextToken };
  });
}

/** Nothing new is placed on it from here on. What runs there goes on. */
export async function drain(api: EcsApi, instanceArn: string): Promise<void> {
  await api.updateContainerInstancesState({
    cluster: clusterOf(instanceArn),
    containerInstances: [instanceArn],
    status: "DRAINING",
  });
}

/** arn:aws:ecs:REGION:ACCOUNT:container-instance/CLUSTER/ID, or task/CLUSTER/ID: Batch keeps clusters of its own. */
export function clusterOf(arn: string): string {
  return arn.split("/").at(-2) ?? "";
}
