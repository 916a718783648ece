import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { startPostgres } from './start-postgres.mjs';

export { startOwnCluster } from './own-cluster.mjs';

/** The PostgreSQL of the tests, with databases that a test has for itself. Prints which server it is. */
export async function testPostgres() {
  const { url, said, close } = await startPostgres();
  console.log(said);
  const databases = new Set();
  const admin = async (text) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      await client.query(text);
    } finally {
      await client.end();
    }
  };
  const drop = async (name) => {
    if (!databases.delete(name)) return;
    await admin(`drop database if exists "${name}" with (force)`);
  };
  return {
    url,
    description: said,
    database: async (label = 'test') => {
      const name = `hexagent_${label}_${randomBytes(5).toString('hex')}`;
      await admin(`create database "${name}"`);
      databases.add(name);
      const own = new URL(url);
      own.pathname = `/${name}`;
      return { url: own.href, drop: () => drop(name) };
    },
    stop: async () => {
      for (const name of [...databases]) await drop(name);
      await close();
    },
  };
}
