import { spotterHome } from "../local/home.ts";
import { SpotterError } from "../schema/errors.ts";
import { isWithin } from "../schema/files/is-within.ts";

/**
 * Refuses a place in Spotter's own folder, where files are removed and replaced without asking.
 *
 * @throws SpotterError `invalid_input`
 */
export async function refuseOwn(place: string, where: string): Promise<void> {
  if (!(await isWithin(place, spotterHome()))) return;
  throw new SpotterError("invalid_input", `${place} is in Spotter's own folder.`, {
    where,
    hint: "Choose a folder of your own.",
  });
}
