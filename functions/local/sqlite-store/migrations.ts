import type { DatabaseSync } from "node:sqlite";
import { SpotterError } from "../../../sdk/schema/errors.ts";

/**
 * Migration n takes the schema from version n to n + 1. Append only: databases in the field have run the
 * older ones. Values of documents carry their own version and are upcast when they are read.
 */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE documents (
     partition TEXT NOT NULL, sort TEXT NOT NULL, version INTEGER NOT NULL, value TEXT NOT NULL,
     PRIMARY KEY (partition, sort)
   ) WITHOUT ROWID;
   CREATE TABLE entries (
     name TEXT NOT NULL, index_partition TEXT NOT NULL, index_sort TEXT NOT NULL,
     partition TEXT NOT NULL, sort TEXT NOT NULL,
     PRIMARY KEY (name, index_partition, index_sort, partition, sort)
   ) WITHOUT ROWID;
   CREATE UNIQUE INDEX entries_of_document ON entries (partition, sort, name);
   CREATE TABLE batches (
     stream TEXT NOT NULL, last_seq INTEGER NOT NULL, batch_id TEXT, events TEXT NOT NULL,
     PRIMARY KEY (stream, last_seq)
   ) WITHOUT ROWID;
   CREATE UNIQUE INDEX batch_ids ON batches (stream, batch_id) WHERE batch_id IS NOT NULL;`,
  // What was written before has no checksum and is taken as it is.
  `ALTER TABLE documents ADD COLUMN crc INTEGER;
   ALTER TABLE batches ADD COLUMN crc INTEGER;`,
];

/** Schema version this build writes. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** Brings a database to {@link SCHEMA_VERSION}; a newer one is `state_too_new` and stays untouched. */
export function migrate(database: DatabaseSync, path: string): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    // Read inside the transaction: another process may have migrated while this one waited.
    const version = userVersion(database);
    if (version > SCHEMA_VERSION) throw tooNew(path, version);
    for (const script of MIGRATIONS.slice(version)) database.exec(script);
    database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
    database.exec("COMMIT");
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

function userVersion(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
}

function tooNew(path: string, version: number): SpotterError {
  return new SpotterError(
    "state_too_new",
    `${path} has schema version ${version}; this version of Spotter knows up to ${SCHEMA_VERSION}.`,
    {
      where: path,
      hint: "Install the newer version of Spotter again, or point SPOTTER_HOME at another folder.",
    },
  );
}
