const TIMEOUT_MS = 2_000;

/** Whether a replica answers its model list. A function asks it seldom, and needs no connections kept for it. */
export async function probe(address: string, accessKey: string): Promise<boolean> {
  try {
    const response = await fetch(`http://${address}/v1/models`, {
      headers: { authorization: `Bearer ${accessKey}` },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    return response.status === 200;
  } catch {
    return false;
  }
}
