import { blobs } from "./aws-deps/blobs.ts";
import { containers } from "./aws-deps/containers.ts";
import { isolates } from "./aws-deps/isolates.ts";
import { openPorts, type AwsDeps, type OpenOptions } from "./aws-deps/open.ts";
import { secrets } from "./aws-deps/secrets.ts";
import { store } from "./aws-deps/store.ts";

/**
 * Every port of a process on AWS. The clients of AWS are loaded by the first call that needs them. A function that
 * is built for itself names its adapters instead, see {@link openPorts}: what it does not name is not in its bundle.
 *
 * @throws SpotterError `aws_config_invalid`: names every variable that is missing or wrong.
 */
export function openAwsDeps(
  environment: OpenOptions["environment"],
  options: Omit<OpenOptions, "environment"> = {},
): AwsDeps {
  return openPorts({ store, blobs, secrets, containers, isolates }, { ...options, environment });
}
