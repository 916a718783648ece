import type { Output } from './output.ts';
import { oneLine } from './printable.ts';

export type Column<Row> = {
  readonly title: string;
  readonly value: (row: Row) => string;
  /** The widest of the flexible columns gives way while the line is longer than the terminal. */
  readonly flexible?: boolean;
};

const GAP = '  ';
/** A flexible column keeps as many characters. */
const NARROWEST = 6;

/** Rows for a person: a table with a heading. For a program: one line a row, tabs between, nothing cut. */
export function printTable<Row>(
  output: Output,
  rows: readonly Row[],
  { columns, empty }: { readonly columns: readonly Column<Row>[]; readonly empty: string },
): void {
  const cells = rows.map((row) => columns.map(({ value }) => flat(value(row))));
  if (output.mode !== 'terminal') {
    for (const line of cells) output.line(line.join('\t'));
    return;
  }
  if (rows.length === 0) {
    output.line(output.style.faint(empty));
    return;
  }
  const widths = widthsOf(columns, cells, output.columns);
  const aligned = (line: readonly string[]): string =>
    line
      .map((cell, index) => oneLine(cell, widths[index] ?? 0).padEnd(widths[index] ?? 0))
      .join(GAP)
      .trimEnd();
  output.line(output.style.strong(aligned(columns.map(({ title }) => title))));
  for (const line of cells) output.line(aligned(line));
}

function flat(text: string): string {
  return text.replace(/[\t\r\n]+/g, ' ');
}

function widthsOf<Row>(
  columns: readonly Column<Row>[],
  cells: readonly (readonly string[])[],
  available: number,
): readonly number[] {
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...cells.map((line) => oneLine(line[index] ?? '', Infinity).length)),
  );
  let excess = widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length) - available;
  for (; excess > 0; excess -= 1) {
    const widest = columns.reduce(
      (best, { flexible }, index) =>
        flexible === true && (widths[index] ?? 0) > (widths[best] ?? NARROWEST) ? index : best,
      -1,
    );
    if (widest === -1) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}
