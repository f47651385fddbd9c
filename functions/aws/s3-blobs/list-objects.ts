import type { BlobInfo } from "../../ports/blobs.ts";
import type { Bucket } from "./bucket.ts";

/** Every object whose key begins with `prefix`, in byte order; asks for page after page of a thousand. */
export async function listObjects(bucket: Bucket, prefix: string): Promise<BlobInfo[]> {
  const found: BlobInfo[] = [];
  let token: string | undefined;
  do {
    const page = await bucket.call(
      { what: `Listing ${bucket.url(prefix)}`, needs: "s3:ListBucket" },
      ({ sdk, client }) =>
        client.send(
          new sdk.ListObjectsV2Command({
            Bucket: bucket.name,
            Prefix: `${bucket.prefix}${prefix}`,
            ContinuationToken: token,
          }),
        ),
    );
    for (const { Key = "", Size = 0 } of page.Contents ?? []) {
      found.push({ key: Key.slice(bucket.prefix.length), size: Size });
    }
    token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
  } while (token !== undefined);
  // S3 promises this order for general buckets, but not for every kind.
  return found.sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)));
}
