import { BlockList, isIP, isIPv6 } from "node:net";

export interface AllowedHosts {
  /** Why a request may not go there; undefined: it may. `host` with its port unless it is the scheme's own. */
  refusal: (host: string, hostname: string) => string | undefined;
  /** Whether an address that a listed name led to may be used. */
  mayUse: (hostname: string, address: string) => boolean;
}

/** The same rules as the worker between workerd's user code and the network. */
export function allowedHosts(list: readonly string[]): AllowedHosts {
  const allowed = new Set(list.map((host) => host.toLowerCase()));
  return {
    refusal(host, hostname) {
      if (allowed.has(host.toLowerCase()) || allowed.has(hostname.toLowerCase())) return undefined;
      return allowed.size === 0 ? "network access is disabled" : `${host} is not an allowed host`;
    },
    // A listed name must not lead inside; an address or this machine's own name was meant as it was written.
    mayUse(hostname, address) {
      if (hostname === "localhost" || isIP(hostname) !== 0) return true;
      const family = isIPv6(address) ? "ipv6" : "ipv4";
      return !PRIVATE[family].check(address, family);
    },
  };
}

/** Two lists: in one, a network of mapped addresses would hold all of IPv4. */
const PRIVATE = { ipv4: new BlockList(), ipv6: new BlockList() };
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3],
] as const) {
  PRIVATE.ipv4.addSubnet(network, prefix, "ipv4");
}
for (const [network, prefix] of [
  ["::", 127],
  ["::ffff:0:0", 96],
  ["64:ff9b::", 96],
  ["fc00::", 7],
  ["fe80::", 10],
  ["ff00::", 8],
] as const) {
  PRIVATE.ipv6.addSubnet(network, prefix, "ipv6");
}
