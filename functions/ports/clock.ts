/** Time, as far as the control plane is concerned. */
export interface Clock {
  now(): number;
  /** Calls back once after `ms`; returns the way to cancel. Never keeps the process alive. */
  after(ms: number, callback: () => void): () => void;
}

/** Unique, time-ordered ids (ULID) and random secrets. */
export interface Ids {
  next(): string;
  /** `bytes` random bytes as lower-case hexadecimal. */
  secret(bytes: number): string;
}

export interface Log {
  debug(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}
