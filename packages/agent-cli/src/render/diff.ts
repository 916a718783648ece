/** Lines of context around a change. */
const CONTEXT = 3;
/** Above this many comparisons the whole is shown as replaced: an exact answer would take seconds. */
const MAX_CELLS = 4_000_000;

type Edit = { readonly sign: ' ' | '-' | '+'; readonly line: string };

/** The lines of a unified diff below its file headings; empty when both texts are the same. */
export function unifiedDiff(before: string, after: string): readonly string[] {
  if (before === after) return [];
  const edits = editsBetween(linesOf(before), linesOf(after));
  return hunksOf(edits).flatMap(({ from, to }) => [
    headingOf(edits, from, to),
    ...edits.slice(from, to).flatMap(({ sign, line }) => shownLine(sign, line)),
  ]);
}

/** Each line with its line feed, so that a missing one at the end is a difference. */
function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}

function shownLine(sign: Edit['sign'], line: string): readonly string[] {
  return line.endsWith('\n')
    ? [`${sign}${line.slice(0, -1)}`]
    : [`${sign}${line}`, '\\ No newline at end of file'];
}

function editsBetween(before: readonly string[], after: readonly string[]): readonly Edit[] {
  const shortest = Math.min(before.length, after.length);
  let head = 0;
  while (head < shortest && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < shortest - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  return [
    ...before.slice(0, head).map((line): Edit => ({ sign: ' ', line })),
    ...changesBetween(
      before.slice(head, before.length - tail),
      after.slice(head, after.length - tail),
    ),
    ...before.slice(before.length - tail).map((line): Edit => ({ sign: ' ', line })),
  ];
}

/** By the longest common subsequence. */
function changesBetween(before: readonly string[], after: readonly string[]): readonly Edit[] {
  const removed = (line: string): Edit => ({ sign: '-', line });
  const added = (line: string): Edit => ({ sign: '+', line });
  if (before.length * after.length > MAX_CELLS) {
    return [...before.map(removed), ...after.map(added)];
  }
  const width = after.length + 1;
  const common = new Uint32Array((before.length + 1) * width);
  const at = (row: number, column: number): number => common[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row -= 1) {
    for (let column = after.length - 1; column >= 0; column -= 1) {
      common[row * width + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const edits: Edit[] = [];
  let row = 0;
  let column = 0;
  while (row < before.length || column < after.length) {
    const left = before[row];
    const right = after[column];
    if (left !== undefined && left === right) {
      edits.push({ sign: ' ', line: left });
      row += 1;
      column += 1;
    } else if (
      left !== undefined &&
      (right === undefined || at(row + 1, column) >= at(row, column + 1))
    ) {
      edits.push(removed(left));
      row += 1;
    } else if (right !== undefined) {
      edits.push(added(right));
      column += 1;
    }
  }
  return edits;
}

/** Changes that are close to each other share a hunk. */
function hunksOf(
  edits: readonly Edit[],
): readonly { readonly from: number; readonly to: number }[] {
  const hunks: { from: number; to: number }[] = [];
  edits.forEach(({ sign }, index) => {
    if (sign === ' ') return;
    const from = Math.max(0, index - CONTEXT);
    const to = Math.min(edits.length, index + CONTEXT + 1);
    const last = hunks.at(-1);
    if (last !== undefined && from <= last.to) last.to = to;
    else hunks.push({ from, to });
  });
  return hunks;
}

function headingOf(edits: readonly Edit[], from: number, to: number): string {
  const count = (part: readonly Edit[], absent: Edit['sign']): number =>
    part.filter(({ sign }) => sign !== absent).length;
  const range = (absent: Edit['sign']): string => {
    const before = count(edits.slice(0, from), absent);
    const length = count(edits.slice(from, to), absent);
    return `${length === 0 ? before : before + 1},${length}`;
  };
  return `@@ -${range('+')} +${range('-')} @@`;
}
