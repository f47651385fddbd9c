import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Secrets } from "../../../functions/ports/secrets.ts";

export interface SecretsFixture {
  secrets: Secrets;
  dispose: () => Promise<void>;
}

/** What every Secrets must do. */
export function secretsContract(name: string, create: () => Promise<SecretsFixture>): void {
  describe(`${name} keeps the Secrets contract`, () => {
    let fixture: SecretsFixture;
    let secrets: Secrets;
    beforeEach(async () => {
      fixture = await create();
      secrets = fixture.secrets;
    });
    afterEach(async () => {
      await fixture.dispose();
    });

    it("has nothing at first", async () => {
      expect(await secrets.list()).toEqual([]);
      expect(await secrets.resolve([])).toEqual({});
    });

    it("resolves the granted names and no others", async () => {
      await secrets.set("HF_TOKEN", 'hf_"ü\n');
      await secrets.set("OTHER", "not granted");
      expect(await secrets.resolve(["HF_TOKEN"])).toEqual({ HF_TOKEN: 'hf_"ü\n' });
    });

    it("lists names, sorted, and never a value", async () => {
      await secrets.set("B", "value-b");
      await secrets.set("A", "value-a");
      expect(await secrets.list()).toEqual(["A", "B"]);
    });

    it("replaces and removes", async () => {
      await secrets.set("A", "old");
      await secrets.set("A", "new");
      expect(await secrets.resolve(["A"])).toEqual({ A: "new" });
      await secrets.remove("A");
      await secrets.remove("A");
      expect(await secrets.list()).toEqual([]);
    });

    it("names the one that is missing, and tells how to set it", async () => {
      await secrets.set("A", "value");
      await expect(secrets.resolve(["A", "MISSING"])).rejects.toMatchObject({
        code: "not_found",
        where: "MISSING",
        hint: expect.stringContaining("secret set MISSING") as string,
      });
    });

    it("replaces values in text once they are set, but none that could be a word", async () => {
      await secrets.set("LONG", "hunter-2-hunter");
      await secrets.set("SHORT", "abcde");
      expect(secrets.redact("say hunter-2-hunter and abcde")).toBe("say [redacted] and abcde");
    });

    it("keeps all of many that are set at the same time", async () => {
      const names = Array.from({ length: 20 }, (_, n) => `SECRET_${String(n).padStart(2, "0")}`);
      await Promise.all(names.map((secret) => secrets.set(secret, `value of ${secret}`)));
      expect(await secrets.list()).toEqual(names);
    });

    it.each(["", "a-b", "1A", "A B", "../A", "__proto__", "A".repeat(129)])(
      "keeps or refuses the name %j, but never loses it silently",
      async (secret) => {
        try {
          await secrets.set(secret, "value");
        } catch (error) {
          expect(error).toMatchObject({ code: "invalid_input", where: "name" });
          return;
        }
        expect(Object.entries(await secrets.resolve([secret]))).toEqual([[secret, "value"]]);
      },
    );
  });
}
