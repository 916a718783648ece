import type { RunId } from '@hexagent/agent-core';
import type { Order, Stop, ToolKind } from '../child/order.ts';
import type { Cell, StoreKind } from './cell.ts';
import type { Expected } from './checks.ts';

/** One way to kill processes at a row's point. A cell is ok when all cases of its row are. */
export type Case = {
  readonly name: string;
  /** What holds for every process of the case. */
  readonly common?: Partial<Order>;
  /** Starts, kills and starts processes until the run is over; answers which run that was. Throws when it cannot. */
  readonly play: (cell: Cell) => Promise<RunId>;
  /** True for a tool of which the case says nothing. */
  readonly leftOut?: (tool: ToolKind) => boolean;
  /** What is other than in an undisturbed run. */
  readonly expected?: (tool: ToolKind, cell: Cell, runId: RunId) => Expected | Promise<Expected>;
};

/** A row of the matrix: of the crash table, or a scenario with a name. */
export type Row = {
  /** For `--only`. */
  readonly id: string;
  readonly name: string;
  /** Why a cell is not played; undefined when it is. */
  readonly leftOut?: (store: StoreKind, tool: ToolKind) => string | undefined;
  readonly cases: readonly Case[];
};

/** A process is killed at one point, and the next one finishes. */
export function killedAt(
  stop: Pick<Stop, 'at' | 'step'>,
  {
    doubtful = false,
    common,
  }: {
    /** The effect was started, and nobody knows what became of it. */
    readonly doubtful?: boolean;
    readonly common?: Partial<Order>;
  } = {},
): Case {
  return {
    name: stop.step === undefined ? stop.at : `${stop.at}, in step ${stop.step}`,
    ...(common === undefined ? {} : { common }),
    play: async (cell) => {
      await cell.killedAt({ ...stop, how: 'kill' });
      return (await cell.finished()).runId;
    },
    expected: (tool) => ({ doubts: doubtful ? doubtsOf(tool) : 0 }),
  };
}

/** Only of an effect that nobody can be asked about a person is asked. */
export function doubtsOf(tool: ToolKind): number {
  return tool === 'non-idempotent' ? 1 : 0;
}
