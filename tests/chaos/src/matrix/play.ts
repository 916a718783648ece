import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Order, ToolKind } from '../child/order.ts';
import { openCell, type StoreKind } from './cell.ts';
import { conversationOf, faultsOf, type Undisturbed } from './checks.ts';
import type { Case, Row } from './row.ts';

/** A cell: what came of it, and why it failed or was not played. */
export type Outcome = {
  readonly kind: 'ok' | 'failed' | 'left-out';
  readonly why: readonly string[];
  readonly ms: number;
};

/** What every cell of one run of the matrix shares. */
export type Stage = {
  readonly program: string;
  /** A database with tables, which one cell at a time uses. */
  readonly postgresUrl: string;
  readonly undisturbed: Map<string, Promise<Undisturbed>>;
  /** Laid on every process of every case: a matrix that breaks a rule on purpose must fail. */
  readonly mutation?: Partial<Order>;
};

/** No case takes so long: something waits for what does not come. */
const PATIENCE_MS = 180_000;
/** Characters of one reason: what processes have said can be long. */
const MAX_WHY = 1_500;
let played = 0;

/** Plays every case of a row, for one store and one tool. */
export async function playCell(
  stage: Stage,
  { row, store, tool }: { readonly row: Row; readonly store: StoreKind; readonly tool: ToolKind },
): Promise<Outcome> {
  const started = performance.now();
  const leftOut = row.leftOut?.(store, tool);
  if (leftOut !== undefined) return { kind: 'left-out', why: [leftOut], ms: 0 };
  const why: string[] = [];
  for (const one of row.cases) {
    if (one.leftOut?.(tool) === true) continue;
    const faults = await playCase(stage, { one, store, tool });
    why.push(...faults.map((fault) => `${one.name}: ${fault}`.slice(0, MAX_WHY)));
  }
  const ms = performance.now() - started;
  return { kind: why.length === 0 ? 'ok' : 'failed', why, ms };
}

type Played = { readonly one: Case; readonly store: StoreKind; readonly tool: ToolKind };

/** Plays one case in a folder of its own; answers what is wrong. */
export async function playCase(
  stage: Stage,
  { one, store, tool }: Played,
): Promise<readonly string[]> {
  const common = { ...one.common, ...stage.mutation };
  const { script } = common;
  const undisturbed =
    script === 'cleanups' ? undefined : await undisturbedOf(stage, { one, store, tool });
  return inCell(stage, { common, store, tool }, async (cell) => {
    const runId = await one.play(cell);
    const expected = (await one.expected?.(tool, cell, runId)) ?? {};
    const keyIgnored = common.faults?.includes('key-ignored') === true;
    return faultsOf(cell, runId, { expected, undisturbed, keyIgnored });
  }).catch((error: unknown) => [error instanceof Error ? error.message : String(error)]);
}

/** What the same run comes to when nothing happens to it: played once for each kind of run. */
function undisturbedOf(stage: Stage, { one, store, tool }: Played): Promise<Undisturbed> {
  const { asks = true, script = 'plain' } = one.common ?? {};
  const key = [store, tool, asks, script].join();
  const known = stage.undisturbed.get(key);
  if (known !== undefined) return known;
  const played = inCell(stage, { common: { asks, script }, store, tool }, async (cell) =>
    conversationOf(cell, await (await cell.finished()).runId),
  );
  stage.undisturbed.set(key, played);
  return played;
}

async function inCell<T>(
  { program, postgresUrl }: Stage,
  { common, store, tool }: { common: Partial<Order>; store: StoreKind; tool: ToolKind },
  work: (cell: ReturnType<typeof openCell>['cell']) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'hexagent-chaos-'));
  played += 1;
  const agent = `clerk-${process.pid}-${played}`;
  const { cell, close } = openCell({ program, store, tool, postgresUrl, folder, agent, common });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`It is not over after ${PATIENCE_MS / 1000} s: ${cell.said()}`)),
      PATIENCE_MS,
    );
  });
  try {
    return await Promise.race([work(cell), late]);
  } finally {
    clearTimeout(timer);
    await close();
    rmSync(folder, { recursive: true, force: true });
  }
}
