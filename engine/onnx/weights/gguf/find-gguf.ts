import { readdir } from "node:fs/promises";
import { join } from "node:path";

export function isGguf(path: string): boolean {
  return path.toLowerCase().endsWith(".gguf");
}

/**
 * The GGUF file that a place of a model is, or that is all a folder holds; undefined for a folder with
 * config.json, and for one with several: which is meant, only their names can say.
 */
export async function findGguf(place: string): Promise<string | undefined> {
  if (isGguf(place)) return place;
  const names = await readdir(place).catch((): string[] => []);
  const [found, ...others] = names.filter(isGguf);
  if (found === undefined || others.length > 0 || names.includes("config.json")) return undefined;
  return join(place, found);
}
