import { realpath } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";

/**
 * Whether a path leads into a folder, or to it, links followed. What is not there yet lies where the part of it does
 * that is.
 *
 * @example
 * await isWithin("/home/ana/.spotter/blobs/x", "/home/ana/.spotter"); // true
 */
export async function isWithin(path: string, folder: string): Promise<boolean> {
  const [place, around] = await Promise.all([placeOf(resolve(path)), placeOf(resolve(folder))]);
  return place === around || place.startsWith(around.endsWith(sep) ? around : `${around}${sep}`);
}

async function placeOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(await placeOf(above), basename(path));
  }
}
