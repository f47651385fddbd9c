import { describe, expect, it } from "vitest";
import { isImageName } from "../../../sdk/schema/engine-images.ts";

const SHA = `sha256:${"0f".repeat(32)}`;

describe("the name of an image", () => {
  it.each([
    ...[
      "vllm",
      "vllm/vllm-openai:v0.33.0",
      "a/b/c",
      "a__b/c.d-e--f",
      "localhost:5000/vllm",
      "Host.example/a",
    ],
    ...["[fe80::1]:5000/a:b", `a@${SHA}`, `registry.example/a:1@${SHA}`, SHA, `a:${"t".repeat(128)}`],
  ])("%s is one that Docker takes", (name) => expect(isImageName(name)).toBe(true));

  it.each([
    ...["", "a:b:c", "a b", "--privileged", "Vllm", "a/Vllm", "a/", "/a", "a//b", "a:", "a@", "a:-b", "a_-b"],
    ...[
      "a@sha256:0f",
      `a@${SHA}0`,
      `a@${SHA}@${SHA}`,
      "a\n",
      "a:b\n",
      `a:${"t".repeat(129)}`,
      "a".repeat(256),
    ],
    ...["https://example/a", "a.b:port/c", "-host/a"],
  ])("%j is none", (name) => expect(isImageName(name)).toBe(false));
});
