import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from "node:sqlite";
import { damaged, storeError, isBusy } from "./errors.ts";
import { migrate } from "./migrations.ts";

const MAX_CHECKED_BYTES = 256 * 1024 * 1024;

export type Row = Record<string, SQLOutputValue>;

/** A database with its prepared statements; every failure is a SpotterError. */
export class Connection {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(path: string, synchronous: "normal" | "full", maxMiB?: number) {
    this.#path = path;
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      // SQLite would make it readable for all; what it puts beside a database has the modes of that.
      closeSync(openSync(path, "a", 0o600));
      this.#database = new DatabaseSync(path, { timeout: 5000 });
    } catch (error) {
      throw storeError(error, path);
    }
    try {
      useWal(this.#database);
      this.#database.exec(`PRAGMA synchronous = ${synchronous}`);
      checkPages(this.#database, path);
      migrate(this.#database, path);
      if (maxMiB !== undefined) limitSize(this.#database, maxMiB);
    } catch (error) {
      this.#database.close();
      throw storeError(error, path);
    }
  }

  all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#guard(() => this.#prepare(sql).all(...values));
  }

  get(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#guard(() => this.#prepare(sql).get(...values));
  }

  run(sql: string, ...values: SQLInputValue[]): void {
    this.#guard(() => this.#prepare(sql).run(...values));
  }

  /** Runs `body` with the write lock held from the start, so that what it reads stays true. */
  transaction<T>(body: () => T): T {
    return this.#guard(() => {
      this.#prepare("BEGIN IMMEDIATE").run();
      try {
        const result = body();
        this.#prepare("COMMIT").run();
        return result;
      } catch (error) {
        // A full disk makes SQLite roll back by itself.
        if (this.#database.isTransaction) this.#prepare("ROLLBACK").run();
        throw error;
      }
    });
  }

  close(): void {
    this.#statements.clear();
    if (this.#database.isOpen) this.#database.close();
  }

  #prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  #guard<T>(body: () => T): T {
    try {
      return body();
    } catch (error) {
      throw storeError(error, this.#path);
    }
  }
}

/** SQLite does not wait for other openers when it changes the journal mode, so this does. */
function useWal(database: DatabaseSync): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let attempt = 1; ; attempt++) {
    try {
      database.exec("PRAGMA journal_mode = WAL");
      return;
    } catch (error) {
      if (!isBusy(error) || attempt === 100) throw error;
      Atomics.wait(pause, 0, 0, 20);
    }
  }
}

/** A damaged file is found at the start, not in the middle of a run; a large one would take too long. */
function checkPages(database: DatabaseSync, path: string): void {
  const size = database.prepare(
    "SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size",
  );
  if (Number(size.get()?.["bytes"]) > MAX_CHECKED_BYTES) return;
  const result = database.prepare("PRAGMA quick_check(1)").get()?.["quick_check"];
  if (result !== "ok") throw damaged(path, String(result));
}

function limitSize(database: DatabaseSync, maxMiB: number): void {
  const pageBytes = Number(database.prepare("PRAGMA page_size").get()?.["page_size"]);
  database.exec(`PRAGMA max_page_count = ${Math.floor((maxMiB * 1024 * 1024) / pageBytes)}`);
}
