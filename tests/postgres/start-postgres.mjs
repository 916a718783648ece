import { connect } from 'node:net';
import { startOwnCluster } from './own-cluster.mjs';

/** The variable that names the server of the tests. */
export const VARIABLE = 'HEXAGENT_TEST_POSTGRES_URL';

/** Set to 1, a local server is not looked for: the tests start one of their own. */
export const OWN_VARIABLE = 'HEXAGENT_TEST_POSTGRES_OWN';

const LOCAL = { host: '127.0.0.1', port: 5432 };
const LOCAL_URL = `postgres://postgres@${LOCAL.host}:${LOCAL.port}/postgres`;

/** True when a server answers there and lets the user in without a password. */
async function isLocalThere() {
  const isListening = await new Promise((done) => {
    const socket = connect({ ...LOCAL, timeout: 1_000 });
    const end = (answer) => {
      socket.destroy();
      done(answer);
    };
    socket.on('connect', () => end(true));
    socket.on('error', () => end(false));
    socket.on('timeout', () => end(false));
  });
  if (!isListening) return false;
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: LOCAL_URL, connectionTimeoutMillis: 2_000 });
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    await client.end().catch(() => undefined);
    return false;
  }
}

/**
 * The PostgreSQL of the tests: the named one, else a local one, else one of our own on a free port,
 * whose data is gone at `close`. `said` tells which, so that no run is silently without PostgreSQL.
 */
export async function startPostgres() {
  const named = process.env[VARIABLE];
  if (named) {
    const shown = named.replace(/\/\/([^:@/]*):[^@/]*@/, '//$1:…@');
    return { url: named, said: `PostgreSQL: ${shown} (${VARIABLE})`, close: async () => {} };
  }
  if (process.env[OWN_VARIABLE] !== '1' && (await isLocalThere())) {
    const said = `PostgreSQL: the local server on ${LOCAL.host}:${LOCAL.port} (name another with ${VARIABLE})`;
    return { url: LOCAL_URL, said, close: async () => {} };
  }
  const { url, description, close } = await startOwnCluster();
  return { url, said: `PostgreSQL: ${description} (name another with ${VARIABLE})`, close };
}
