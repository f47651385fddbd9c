import type { Context } from "hono";
import { getCookie } from "hono/cookie";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Control } from "../control.ts";
import type { JobRecord } from "../jobs/records.ts";
import { staleAttempt } from "../jobs/records.ts";
import { isJobToken } from "../jobs/tokens.ts";
import { allows, type KeyHolder } from "../keys/key-ring.ts";
import type { Access } from "./route.ts";

export const SESSION_COOKIE = "spotter_session";

export interface Caller {
  holder?: KeyHolder;
  job?: JobRecord;
}

/** Lets a request through to a route, or throws. Whatever is not named here is refused. */
export async function authenticate(control: Control, c: Context, access: Access): Promise<Caller> {
  switch (access) {
    case "open":
    case "gateway":
      return {};
    case "admin":
    case "write":
      return { holder: await keyHolder(control, c, access) };
    case "job":
      return { job: await jobHolder(control, c) };
    case "page":
      if (!(await control.sessions.isOpen(getCookie(c, SESSION_COOKIE) ?? "")))
        throw new SpotterError("unauthorized", "This page needs a session of this browser.", {
          hint: "Run `spotter open` on the machine where Spotter runs.",
        });
      refuseForeignPage(control, c);
      return {};
  }
}

/**
 * A cookie goes along with what any page on this host sends, other ports included, so whoever changes
 * something must say that it is one of our own pages. Browsers always send `Origin` with a POST.
 */
function refuseForeignPage(control: Control, c: Context): void {
  if (c.req.method === "GET" || c.req.method === "HEAD") return;
  const origin = c.req.header("origin");
  const site = c.req.header("sec-fetch-site") ?? "same-origin";
  const own = [new URL(control.config.publicUrl()).host, c.req.header("host") ?? new URL(c.req.url).host];
  if (origin !== undefined && site === "same-origin" && own.includes(hostOf(origin))) return;
  throw new SpotterError("forbidden", "This request does not come from one of Spotter's pages.", {
    where: "Origin",
    hint: "Programs use the API with a key; `spotter key create` makes one.",
  });
}

function hostOf(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).host : "";
}

/** The token of an `Authorization: Bearer ...` header. */
export function bearer(c: Context): string | undefined {
  return bearerOf(c.req.header("authorization") ?? "");
}

export function bearerOf(authorization: string): string | undefined {
  return /^Bearer\s+(\S+)\s*$/i.exec(authorization)?.[1];
}

async function keyHolder(control: Control, c: Context, scope: "admin" | "write"): Promise<KeyHolder> {
  const token = bearer(c);
  if (token === undefined) {
    throw new SpotterError("unauthorized", "This route needs a key.", {
      hint: "Send `Authorization: Bearer sk-spotter-...`; `spotter key create` makes one.",
    });
  }
  const holder = await control.keys.find(token);
  if (holder === undefined) {
    throw new SpotterError("unauthorized", "This key is unknown or revoked.", {
      hint: "`spotter key list` shows the keys that are valid.",
    });
  }
  if (!allows(holder, scope)) {
    throw new SpotterError(
      "forbidden",
      `This route needs a key of scope ${scope}; this one has ${holder.scope}.`,
      {
        hint: `Create one with \`spotter key create NAME --scope ${scope}\`.`,
      },
    );
  }
  return holder;
}

async function jobHolder(control: Control, c: Context): Promise<JobRecord> {
  const token = bearer(c);
  const job = token !== undefined && isJobToken(token) ? await control.jobTokens.find(token) : undefined;
  if (job === undefined) throw new SpotterError("unauthorized", "This route needs the token of a job.");
  if (job.id !== c.req.param("id")) throw new SpotterError("forbidden", "This token belongs to another job.");
  if (job.fenced) throw staleAttempt(job.id);
  return job;
}
