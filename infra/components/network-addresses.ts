/**
 * One of the 256 subnets of the block that AWS gives a network.
 *
 * @param block Such as `2a05:d014:1234:5600::/56`.
 * @example ipv6Subnet("2a05:d014:1234:5600::/56", 2) // "2a05:d014:1234:5602::/64"
 */
export function ipv6Subnet(block: string, index: number): string {
  const groups = (block.split("::")[0] ?? "").split(":").filter((group) => group !== "");
  const network = Array.from({ length: 3 }, (_, at) => groups[at] ?? "0");
  // The last 8 bits of the fourth group are free.
  const subnet = (Number.parseInt(groups[3] ?? "0", 16) & 0xff00) + index;
  return `${network.join(":")}:${subnet.toString(16)}::/64`;
}
