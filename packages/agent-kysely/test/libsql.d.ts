/** libsql has no types of its own: what the tests use of it. */
declare module 'libsql' {
  class Database {
    constructor(path: string);
    exec(sql: string): void;
    prepare(sql: string): {
      all(parameters: readonly unknown[]): unknown[];
      run(parameters: readonly unknown[]): { readonly changes: number };
    };
    close(): void;
  }
  export = Database;
}
