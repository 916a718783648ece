import { spawn } from 'node:child_process';
import { startPostgres, VARIABLE } from './start-postgres.mjs';

// with-postgres COMMAND…: runs a command with the address of a PostgreSQL, and ends as the command ends.
const [command, ...args] = process.argv.slice(2);
const postgres = await startPostgres();
console.log(postgres.said);
const child = spawn(command, args, {
  stdio: 'inherit',
  env: { ...process.env, [VARIABLE]: postgres.url },
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
const code = await new Promise((done) => {
  child.on('error', (error) => {
    console.error(error.message);
    done(1);
  });
  child.on('close', (status) => done(status ?? 1));
});
await postgres.close();
process.exit(code);
