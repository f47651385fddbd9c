import { SpotterError } from "../schema/errors.ts";

/** What is asked for, for messages and for the choice of codes. */
export interface HubTarget {
  kind: "dataset" | "model";
  repo: string;
  revision?: string | undefined;
}

/** A final refusal of the hub as a coded error. The hub names its reasons in `X-Error-Code`. */
export function refused(target: HubTarget, url: URL, response: Response): SpotterError {
  const reason = response.headers.get("x-error-code");
  const isLogin = response.status === 401 || response.status === 403;
  const where = `${target.kind} ${target.repo}`;
  if (response.status === 404 || reason === "RepoNotFound") return missing(target, url, reason, isLogin);
  if (isLogin) {
    return new SpotterError(
      "hub_gated",
      `${url.host} refuses the ${where} (${response.status}${reason ? ` ${reason}` : ""}).`,
      {
        where: url.pathname,
        hint: `Open ${url.origin}/${pageOf(target)} and accept its terms, then set HF_TOKEN to a token that may read it.`,
      },
    );
  }
  return new SpotterError("hub_unreachable", `${url.host} answered ${response.status} for the ${where}.`, {
    where: url.pathname,
    hint: "Try again later, or use files on this machine.",
  });
}

export function rateLimited(target: HubTarget, host: string, tries: number): SpotterError {
  return new SpotterError(
    "hub_rate_limited",
    `${host} answered 429 (too many requests) ${tries} times for the ${target.kind} ${target.repo}.`,
    {
      where: host,
      hint: `Wait a few minutes. A token in HF_TOKEN has higher limits; ${host} counts by address without one.`,
    },
  );
}

/** HF_HUB_OFFLINE is set, and what is asked for is not on this machine. */
export function offline({ kind, repo }: HubTarget, url: URL): SpotterError {
  return new SpotterError(
    "hub_unreachable",
    `The ${kind} ${repo} is not on this machine as it is needed, and HF_HUB_OFFLINE forbids to ask ${url.host}.`,
    {
      where: "HF_HUB_OFFLINE",
      hint: `Unset HF_HUB_OFFLINE once, or use ${kind === "dataset" ? "Dataset.fromFile(path)" : "a model folder on this machine"}.`,
    },
  );
}

export function unreachable(target: HubTarget, url: URL, tries: number, cause: unknown): SpotterError {
  return new SpotterError(
    "hub_unreachable",
    `Cannot read the ${target.kind} ${target.repo}: ${url.origin}${url.pathname} failed ${tries} times (${reasonOf(cause)}).`,
    {
      where: url.host,
      hint:
        target.kind === "dataset"
          ? "Check the network, set HF_ENDPOINT to a mirror, or read a local copy with Dataset.fromFile(path)."
          : "Check the network, set HF_ENDPOINT to a mirror, or use a model folder on this machine.",
      cause,
    },
  );
}

function missing(target: HubTarget, url: URL, reason: string | null, mayBePrivate: boolean): SpotterError {
  const what =
    reason === "RevisionNotFound"
      ? `has no revision "${target.revision ?? "main"}"`
      : reason === "EntryNotFound"
        ? `has no file ${url.pathname}`
        : "does not exist, or is private";
  return new SpotterError(
    target.kind === "dataset" ? "dataset_not_found" : "model_not_found",
    `The ${target.kind} ${target.repo} ${what} (asked ${url.host}).`,
    {
      where: url.pathname,
      hint: `Look at ${url.origin}/${pageOf(target)}${mayBePrivate || reason === null ? "; for a private one set HF_TOKEN" : ""}.`,
    },
  );
}

function pageOf({ kind, repo }: HubTarget): string {
  return kind === "dataset" ? `datasets/${repo}` : repo;
}

/** The innermost reason: fetch wraps what the network said. */
function reasonOf(cause: unknown): string {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const { code, message } = inner as { code?: string; message?: string };
  return code ?? message ?? String(inner);
}
