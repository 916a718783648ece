import { TOOL_KINDS } from '../child/order.ts';
import { STORES } from './cell.ts';
import { COLUMNS, type Played } from './matrix.ts';
import type { Outcome } from './play.ts';
import type { Row } from './row.ts';

const WORDS: Readonly<Record<Outcome['kind'], string>> = {
  ok: 'ok',
  failed: 'FAILED',
  'left-out': '–',
};
const NAME_WIDTH = 54;
const CELL_WIDTH = 15;

/** Rows by columns, then why a cell failed or was not played. */
export function tableOf(rows: readonly Row[], played: readonly Played[]): string {
  const stores = STORES.map((store) => store.padEnd(CELL_WIDTH * TOOL_KINDS.length)).join('');
  const tools = COLUMNS.map(({ tool }) => tool.padEnd(CELL_WIDTH)).join('');
  const lines = [''.padEnd(NAME_WIDTH) + stores, ''.padEnd(NAME_WIDTH) + tools];
  for (const row of rows) {
    const cells = COLUMNS.map(({ store, tool }) => {
      const one = played.find(
        (each) => each.row === row && each.store === store && each.tool === tool,
      );
      return (one === undefined ? '' : WORDS[one.outcome.kind]).padEnd(CELL_WIDTH);
    });
    lines.push(row.name.slice(0, NAME_WIDTH - 2).padEnd(NAME_WIDTH) + cells.join('').trimEnd());
  }
  return [...lines, ...reasons(rows, played)].join('\n');
}

/** Each reason once, with the columns that it holds for. */
function reasons(rows: readonly Row[], played: readonly Played[]): readonly string[] {
  const lines: string[] = [];
  for (const kind of ['failed', 'left-out'] as const) {
    for (const row of rows) {
      const columns = new Map<string, string[]>();
      for (const { row: of, outcome, store, tool } of played) {
        if (of !== row || outcome.kind !== kind) continue;
        for (const why of outcome.why)
          columns.set(why, [...(columns.get(why) ?? []), `${store}/${tool}`]);
      }
      for (const [why, where] of columns) {
        const place = where.length === COLUMNS.length ? '' : ` [${where.join(', ')}]`;
        lines.push(`${WORDS[kind]} ${row.name}${place}: ${why}`);
      }
    }
  }
  return lines.length === 0 ? [] : ['', ...lines];
}
