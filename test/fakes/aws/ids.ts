import { createHash } from "node:crypto";

export const accountId = "123456789012";
export const region = "us-east-1";

/** Ids that look like the services' and are the same in every run of a test. */
export class FakeIds {
  #count = 0;

  hex(length = 32): string {
    return createHash("sha256").update(`fake-aws-${++this.#count}`).digest("hex").slice(0, length);
  }

  uuid(): string {
    const hex = this.hex();
    return [0, 8, 12, 16, 20].map((from, part) => hex.slice(from, [8, 12, 16, 20, 32][part])).join("-");
  }
}

export const arn = (service: string, resource: string): string =>
  `arn:aws:${service}:${region}:${accountId}:${resource}`;

/** The last part of an arn, or the name as it is. */
export const nameOf = (arnOrName: string): string => arnOrName.split("/").at(-1) ?? arnOrName;
