import { expect, it } from "vitest";
import { allowedHosts } from "../../../../functions/lambda/user-code-host/allowed-hosts.ts";

it("refuses everything where nothing is listed", () => {
  const { refusal } = allowedHosts([]);
  expect(refusal("example.com", "example.com")).toBe("network access is disabled");
});

it("lets listed hosts through, by name or with their port, in any case", () => {
  const { refusal } = allowedHosts(["API.example.com", "other.example.com:8443"]);
  expect(refusal("api.example.com:444", "api.example.com")).toBeUndefined();
  expect(refusal("Other.example.com:8443", "Other.example.com")).toBeUndefined();
  expect(refusal("other.example.com", "other.example.com")).toBe("other.example.com is not an allowed host");
  expect(refusal("evil-api.example.com", "evil-api.example.com")).toContain("not an allowed host");
});

it.each([
  "10.1.2.3",
  "127.0.0.1",
  "169.254.169.254",
  "169.254.170.2",
  "172.20.0.1",
  "192.168.1.1",
  "100.64.0.1",
  "0.0.0.0",
  "::1",
  "::ffff:10.0.0.1",
  "fd00:ec2::254",
  "fe80::1",
])("lets no name lead to %s", (address) => {
  expect(allowedHosts(["a.example.com"]).mayUse("a.example.com", address)).toBe(false);
});

it.each(["93.184.216.34", "172.32.0.1", "2606:4700::1111"])("lets names lead to %s", (address) => {
  expect(allowedHosts(["a.example.com"]).mayUse("a.example.com", address)).toBe(true);
});

it("takes an address that is listed itself as it was meant", () => {
  expect(allowedHosts(["10.0.0.5"]).mayUse("10.0.0.5", "10.0.0.5")).toBe(true);
  expect(allowedHosts(["localhost"]).mayUse("localhost", "127.0.0.1")).toBe(true);
});
