import type { Store } from "../../../functions/ports/store.ts";
import type { TestPlane } from "../../fakes/control-plane.ts";

const MAX_TRIES = 6;

/** A control plane that dies at its n-th write and is started again by whoever needs it. */
export class Mortal {
  plane: TestPlane;
  writes = 0;
  readonly #dieAt: number;
  #dead = false;

  constructor(plane: TestPlane, dieAt: number) {
    this.plane = plane;
    this.#dieAt = dieAt;
    this.#arm();
  }

  /** Does something as a client does: again when the other side died over it. */
  async attempt(action: (plane: TestPlane) => Promise<unknown>): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await action(this.plane);
        await this.plane.reconciler.settle();
        if (!this.#dead) return;
      } catch (error) {
        if (!this.#dead || tries >= MAX_TRIES) throw error;
      }
      await this.#revive();
    }
  }

  async #revive(): Promise<void> {
    if (!this.#dead) return;
    this.plane = await this.plane.restart();
    this.#dead = false;
    this.#arm();
    this.plane.reconciler.wake();
    await this.plane.reconciler.settle();
  }

  #arm(): void {
    const { store } = this.plane.control;
    for (const name of ["get", "query", "queryIndex", "read", "put", "append"] as const) {
      const real = store[name].bind(store) as (...args: unknown[]) => Promise<unknown>;
      const isWrite = name === "put" || name === "append";
      const mortal = async (...args: unknown[]): Promise<unknown> => {
        if (isWrite && !this.#dead && ++this.writes === this.#dieAt) this.#dead = true;
        if (this.#dead) throw new Error("the process is dead");
        return real(...args);
      };
      Object.assign(store, { [name]: mortal } satisfies Partial<Record<keyof Store, unknown>>);
    }
  }
}
