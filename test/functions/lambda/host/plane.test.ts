import { expect, it } from "vitest";
import type { AwsAdapters } from "../../../../functions/aws/aws-deps/open.ts";
import { CLOUDFRONT_HOLDS } from "../../../../functions/gateway/hold.ts";
import { planeOf } from "../../../../functions/lambda/host/plane.ts";
import { memoryStore } from "../../../fakes/memory-store.ts";

const adapters: AwsAdapters = { store: { variables: {}, open: () => memoryStore() } };
const environment = {
  SPOTTER_VERSION: "1.2.3",
  SPOTTER_STACK: "test",
  SPOTTER_URL: "https://gym.example.com",
  SPOTTER_LOG_LEVEL: "error",
};

it("holds requests no longer than what is in front waits", () => {
  expect(planeOf({ adapters, holds: CLOUDFRONT_HOLDS })(environment).control.config.holds).toBe(
    CLOUDFRONT_HOLDS,
  );
  expect(planeOf({ adapters })(environment).control.config.holds).toBeUndefined();
});

it("is opened once, with the environment that was there first", () => {
  const open = planeOf({ adapters });
  const first = open(environment);
  expect(open({ ...environment, SPOTTER_URL: "https://other.example.com" })).toBe(first);
  expect(first.control.config.publicUrl()).toBe("https://gym.example.com");
});
