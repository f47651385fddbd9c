import { SpotterError } from "./schema/errors.ts";

/** Where a control plane answers, and with which key. */
export interface Connection {
  /** Without a trailing slash, for example `http://127.0.0.1:7717`. */
  url: string;
  key?: string | undefined;
}

/** @throws SpotterError `invalid_input` for a URL or key that no request can be sent with. */
export function connectionTo(url: string, key: string | undefined): Connection {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    throw new SpotterError("invalid_input", `${JSON.stringify(url)} is not the URL of a server.`, {
      where: "SPOTTER_URL",
      hint: "Set SPOTTER_URL to an http or https URL, for example http://127.0.0.1:7717.",
    });
  }
  const trimmed = key?.trim();
  // Never quoted: most of it may be the key.
  if (trimmed !== undefined && !/^[ -~]*$/.test(trimmed)) {
    throw new SpotterError("invalid_input", "The key has characters that no key has.", {
      where: "SPOTTER_API_KEY",
      hint: "Set SPOTTER_API_KEY to the key alone, as `spotter key create` prints it.",
    });
  }
  return { url: url.trim().replace(/\/+$/, "").replace(/\/v1$/, ""), key: trimmed };
}

/** Another server's page. What a proxy says while ours is down is another matter: that is tried again. */
export function isForeign({ status, headers }: Response): boolean {
  return status < 500 && (headers.get("content-type") ?? "").startsWith("text/html");
}

export function foreignServer(url: string): SpotterError {
  return new SpotterError(
    "daemon_unreachable",
    `${url} answers with a web page: it is not a Spotter server.`,
    {
      where: "SPOTTER_URL",
      hint: "Check SPOTTER_URL; it is the address that `spotter status` shows on the server.",
    },
  );
}
