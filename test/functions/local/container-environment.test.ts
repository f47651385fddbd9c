import { expect, it } from "vitest";
import { containerEnvironment } from "../../../functions/local/container-environment.ts";

it("passes on the named few and nothing secret", () => {
  const environment = containerEnvironment(
    { PATH: "/bin", HF_HOME: "/hub", OPENAI_API_KEY: "sk-1" },
    "/home",
  );
  expect(environment).toEqual({
    PATH: "/bin",
    HF_HOME: "/hub",
    NODE_COMPILE_CACHE: "/home/compile-cache",
    GLIBC_TUNABLES: "glibc.malloc.hugetlb=1:glibc.malloc.arena_max=1",
  });
});
