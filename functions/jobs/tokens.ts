import type { Store } from "../ports/store.ts";
import { createCache, type CacheParams, type Versioned } from "../records/cache.ts";
import { sameHash, sha256Of } from "../records/hash.ts";
import { jobKey, type JobRecord } from "./records.ts";

/** Checks job tokens from memory; the chat path must not call the Store for each request. */
export interface JobTokens {
  /** The job a token belongs to, unless the attempt was fenced. */
  find(token: string): Promise<JobRecord | undefined>;
  /** What a replica asks of its callers; undefined for unknown jobs. */
  accessKey(jobId: string): Promise<string | undefined>;
  /** Writers of job records call this. */
  set(jobId: string, document: Versioned<JobRecord>): void;
}

const PREFIX = "spotter-job.";
/** Launches that are repeated twice a minute for as long as anybody waits for room. */
const MAX_FURTHER = 64;

/** @param params How old what is known of a job may be, where other processes change it too. */
export function createJobTokens(store: Store, params?: CacheParams): JobTokens {
  const cache = createCache((id) => store.get<JobRecord>(jobKey(id)), params);
  return {
    async find(token) {
      const jobId = jobIdOf(token);
      if (jobId === undefined) return undefined;
      const job = await cache.get(jobId);
      return job !== undefined && hasToken(job, sha256Of(token)) ? job : undefined;
    },
    async accessKey(jobId) {
      // Made from the token, which a job keeps.
      const job = await cache.getOfAnyAge(jobId);
      return job && accessKeyOf(job);
    },
    set: (jobId, document) => cache.set(jobId, document),
  };
}

/** A token names its job, so that checking it is one read. */
export function newJobToken(jobId: string, secret: string): { token: string; hash: string } {
  const token = `${PREFIX}${jobId}.${secret}`;
  return { token, hash: sha256Of(token) };
}

/** A launch whose outcome is never learned may have started the container: the tokens of all of them are good. */
export function withToken(job: JobRecord, hash: string): JobRecord {
  if (job.tokenHash === "") return { ...job, tokenHash: hash };
  return { ...job, furtherTokenHashes: [...(job.furtherTokenHashes ?? []), hash].slice(-MAX_FURTHER) };
}

export function hasToken({ tokenHash, furtherTokenHashes = [] }: JobRecord, hash: string): boolean {
  return [tokenHash, ...furtherTokenHashes].some((each) => sameHash(each, hash));
}

/**
 * The key of a replica: both sides can make it, the container from its job's answer and the control plane from
 * what it stored, and neither is the job token, which must not travel with every chat.
 */
export function accessKeyOf(job: JobRecord): string {
  return sha256Of(`replica ${job.tokenHash}`);
}

export function isJobToken(token: string): boolean {
  return token.startsWith(PREFIX);
}

function jobIdOf(token: string): string | undefined {
  if (!isJobToken(token)) return undefined;
  const end = token.lastIndexOf(".");
  return end > PREFIX.length ? token.slice(PREFIX.length, end) : undefined;
}
