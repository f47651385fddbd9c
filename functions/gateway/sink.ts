/**
 * Where an answer goes: a Node response on a server of ours, a web Response anywhere else. The data path
 * writes the same way to both.
 */
export interface Sink {
  /** Status and headers, in as many parts as there are; once, before anything else. They go out with the first bytes. */
  head(status: number, ...headers: Record<string, string>[]): void;
  /** False: the client is slower than this; wait for `onDrain`. */
  write(bytes: Uint8Array): boolean;
  /** The last bytes, if any, and the end. */
  end(bytes?: Uint8Array): void;
  /** Breaks the transfer off, so that nobody takes it for complete. */
  cut(): void;
  // Give these a constant, never a function literal: V8 puts a literal that is assigned to a property into the old
  // space, where it holds the whole request until the next full collection.
  /** Called when there is room again after `write` returned false. */
  onDrain: () => void;
  /** Called when the client went away before the end. */
  onGone: () => void;
}
