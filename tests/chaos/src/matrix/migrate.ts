import { openKyselyStore } from '@hexagent/agent-kysely';

/** Gives a database its tables: the processes of the cases find them there. */
export async function migrate(url: string): Promise<void> {
  const { migrator, close } = await openKyselyStore(url, { migrate: 'never' });
  try {
    await migrator.migrate({ signal: new AbortController().signal });
  } finally {
    await close();
  }
}
