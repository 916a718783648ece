/** A database that a test has for itself. */
export type TestDatabase = { readonly url: string; drop(): Promise<void> };

export type TestPostgres = {
  /** Of a user who may create databases. */
  readonly url: string;
  /** Which server it is. */
  readonly description: string;
  /** `label` (letters, digits, _) becomes part of the name. */
  database(label?: string): Promise<TestDatabase>;
  /** Drops the databases, and ends the server if it was started for the tests. */
  stop(): Promise<void>;
};

/**
 * The server that `HEXAGENT_TEST_POSTGRES_URL` names, else a local one on 127.0.0.1:5432 that trusts the
 * user postgres, else one that is started here.
 */
export function testPostgres(): Promise<TestPostgres>;

export type OwnCluster = {
  readonly url: string;
  readonly port: number;
  readonly description: string;
  start(): Promise<void>;
  /** As an administrator does: connections are told. */
  stop(): Promise<void>;
  /** As a power cut does. */
  kill(): Promise<void>;
  /** Stops it and removes its data. */
  close(): Promise<void>;
};

/** Starts a PostgreSQL that a test may stop, kill and start again. */
export function startOwnCluster(): Promise<OwnCluster>;
