import type { TestPostgres } from '@hexagent/test-postgres';
import { TOOL_KINDS, type ToolKind } from '../child/order.ts';
import { STORES, type StoreKind } from './cell.ts';
import { migrate } from './migrate.ts';
import { type Outcome, playCell, type Stage } from './play.ts';
import type { Row } from './row.ts';

export type Column = { readonly store: StoreKind; readonly tool: ToolKind };
export const COLUMNS: readonly Column[] = STORES.flatMap((store) =>
  TOOL_KINDS.map((tool) => ({ store, tool })),
);

export type Played = Column & { readonly row: Row; readonly outcome: Outcome };

/** A database that has its tables, for one cell at a time. */
export async function openStage(
  program: string,
  postgres: TestPostgres,
  undisturbed: Stage['undisturbed'] = new Map(),
): Promise<Stage> {
  const { url } = await postgres.database('chaos');
  await migrate(url);
  return { program, postgresUrl: url, undisturbed };
}

/** Plays every cell, so many at a time as there are stages. */
export async function playMatrix(
  stages: readonly Stage[],
  { rows, columns }: { readonly rows: readonly Row[]; readonly columns: readonly Column[] },
  report: (played: Played) => void,
): Promise<readonly Played[]> {
  const cells = rows.flatMap((row) => columns.map((column) => ({ ...column, row })));
  const played: Played[] = [];
  const lane = async (stage: Stage): Promise<void> => {
    for (let cell = cells.shift(); cell !== undefined; cell = cells.shift()) {
      const one = { ...cell, outcome: await playCell(stage, cell) };
      played.push(one);
      report(one);
    }
  };
  await Promise.all(stages.map(lane));
  return played;
}
