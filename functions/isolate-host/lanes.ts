/** Calls after which code counts as in steady use, and a further process as worth its start and its memory. */
const STEADY_CALLS = 16;

/** What a lane needs of an isolate. */
export interface Lane {
  readonly isRunning: boolean;
  start(): Promise<void>;
  /** After each call: lets it end when it is not used for a while. */
  rest(): void;
}

export interface LanesParams<T extends Lane> {
  /** Of the same code; it is started when it is first used. */
  create: () => T;
  /** Most isolates at once. */
  max: number;
}

/**
 * Isolates of one bundle. Each has one thread and gets one call at a time, because a stuck call takes its
 * neighbours down with it. There is one isolate; once the code is in steady use and calls have to wait, others
 * join it, started in the background so that no call waits for them.
 */
export class Lanes<T extends Lane> {
  readonly first: T;
  readonly #params: LanesParams<T>;
  /** Next to use last. */
  readonly #idle: T[];
  readonly #waiting: ((isolate: T) => void)[] = [];
  #count = 1;
  #calls = 0;
  #mayGrow = true;

  constructor(params: LanesParams<T>) {
    this.#params = params;
    this.first = params.create();
    this.#idle = [this.first];
  }

  /** Runs when an isolate is free, in the order of asking. */
  async use<R>(work: (isolate: T) => Promise<R>): Promise<R> {
    const isolate = await this.#take();
    try {
      return await work(isolate);
    } finally {
      isolate.rest();
      this.#give(isolate);
    }
  }

  #take(): T | Promise<T> {
    this.#calls += 1;
    const free = this.#idle.pop();
    if (free && (free === this.first || free.isRunning)) return free;
    if (free) {
      // It was idle for so long that its process was ended: waiting for the others is quicker than its start.
      this.#count -= 1;
      return this.#take();
    }
    if (this.#mayGrow && this.#count < this.#params.max && this.#calls > STEADY_CALLS) this.#join();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #join(): void {
    const isolate = this.#params.create();
    this.#count += 1;
    isolate.start().then(
      () => {
        isolate.rest();
        this.#give(isolate);
      },
      // The first one works; where another does not start, for want of memory or so, those that run go on.
      () => {
        this.#count -= 1;
        this.#mayGrow = false;
      },
    );
  }

  #give(isolate: T): void {
    const next = this.#waiting.shift();
    if (next) next(isolate);
    else if (isolate === this.first) this.#idle.push(isolate);
    else this.#idle.unshift(isolate);
  }
}
