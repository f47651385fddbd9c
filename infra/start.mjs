// Pulumi's entry. It must run on any Node, to tell what is wrong with an old one before the program,
// whose TypeScript only a newer Node understands, is loaded.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  throw new Error(
    `node_too_old: this program needs Node 22.19 or newer, and Pulumi started Node ${process.versions.node}. ` +
      "Run `npm ci` and then `npm exec -- pulumi up` in the clone, which puts the project's own Node first, " +
      "or install a newer Node.",
  );
}

export const { url, gatewayUrl, bucketName, tableName, clusterName, keyBootstrapFunction } =
  await import("./index.ts");
