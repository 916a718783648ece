import type pg from 'pg';
import { storeDriverMissing } from '../failure.ts';
import { withoutPassword } from '../options.ts';
import type { LoadModule } from '../sqlite/libsql.ts';

export type PgModule = { readonly default: typeof pg };

/** Loads the driver; a missing one fails with its install command. */
export async function loadPg(url: string, load: LoadModule): Promise<PgModule> {
  try {
    return (await load('pg')) as PgModule;
  } catch (cause) {
    throw storeDriverMissing('pg', withoutPassword(url), cause);
  }
}
