import type { OpenedStore } from '../opened-store.ts';
import type { Target } from '../options.ts';
import type { PgModule } from './pg.ts';
export async function openPostgres(
  _target: Extract<Target, { kind: 'postgres' }>,
  _pg: PgModule,
): Promise<OpenedStore> {
  throw new Error('later');
}
