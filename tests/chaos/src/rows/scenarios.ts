import { setTimeout as pause } from 'node:timers/promises';
import type { ToolKind } from '../child/order.ts';
import type { Cell, StoreKind } from '../matrix/cell.ts';
import { type Case, doubtsOf, type Row } from '../matrix/row.ts';
import { decisionBeforeTheRelease, decisionBesidePause } from './decisions.ts';
import { answerLostOnTheWire } from './lost-on-the-wire.ts';
import { crashLoop } from './poison.ts';
import { restarts } from './postgres-restart.ts';

/** More deploys than deliveries that a run may have without getting any further. */
const DEPLOYS = 7;
/** Long enough for a heartbeat by the new time. */
const HEARTBEAT_MS = 1_000;

/** Not played where the row says nothing new. */
const only =
  (store: StoreKind | undefined, tools: readonly ToolKind[] | undefined, why: string) =>
  (ofStore: StoreKind, ofTool: ToolKind): string | undefined =>
    (store === undefined || store === ofStore) && (tools === undefined || tools.includes(ofTool))
      ? undefined
      : why;

/** What happens beside the crash table: of machines, networks, people and other workers. */
export const SCENARIOS: readonly Row[] = [
  {
    id: 'decision-and-pause',
    name: 'decision ∥ pause',
    cases: [decisionBeforeTheRelease, decisionBesidePause],
  },
  {
    id: 'two-workers',
    name: 'two workers race for one run, an outsider reads',
    cases: [twoWorkers()],
  },
  {
    id: 'crash-loop',
    name: 'crash loop (poison): six kills, a question, "go on"',
    cases: [crashLoop],
  },
  {
    id: 'drain',
    name: 'SIGTERM, again and again (rolling deploys)',
    cases: [rollingDeploys()],
  },
  {
    id: 'timeout',
    name: 'timeout of a started effect',
    leftOut: only(
      undefined,
      ['reconcilable', 'non-idempotent'],
      'a read or an idempotent call that takes too long is a failure that the model is told',
    ),
    cases: lateEffects(),
  },
  {
    id: 'wire',
    name: 'commit sent and answer lost, on the wire',
    leftOut: only('PostgreSQL', undefined, 'SQLite has no wire'),
    cases: [answerLostOnTheWire],
  },
  {
    id: 'restart',
    name: 'PostgreSQL restarted in the middle of a run',
    leftOut: only(
      'PostgreSQL',
      ['reconcilable', 'non-idempotent'],
      'only of a server, and once for a tool that is probed and one that is asked about',
    ),
    cases: restarts,
  },
  {
    id: 'disk-full',
    name: 'disk full, then room again',
    leftOut: only('SQLite', undefined, "PostgreSQL's disk is not this process's"),
    cases: [diskFull()],
  },
  {
    id: 'clock',
    name: 'clock set back by an hour',
    cases: [clockSetBack()],
  },
];

function twoWorkers(): Case {
  return {
    name: 'killed; two others see it at once',
    play: async (cell) => {
      const first = cell.start({ stops: [{ at: 'before commit result', step: 2, how: 'kill' }] });
      const runId = await first.runId;
      const outsider = cell.start({ task: { kind: 'read', runId }, reader: 'outsider' });
      await first.killed();
      await Promise.all([cell.finished(), cell.finished({ reader: 'second' }), outsider.ended()]);
      return runId;
    },
    expected: (tool) => ({ doubts: doubtsOf(tool) }),
  };
}

function rollingDeploys(): Case {
  return {
    name: `${DEPLOYS} processes are told to end while the model answers`,
    // Nobody has to wait for a lease: each gives the run back.
    common: { leaseMs: 60_000 },
    play: async (cell) => {
      for (let deploy = 0; deploy < DEPLOYS; deploy += 1) {
        const child = cell.start({ stops: [{ at: 'in the model stream', how: 'hold' }] });
        await child.reaches('in the model stream');
        child.terminate();
        await child.ended();
      }
      return (await cell.finished()).runId;
    },
  };
}

function lateEffects(): readonly Case[] {
  const common = { script: 'late-effect', asks: false } as const;
  // Both calls are late.
  const expected = (tool: ToolKind) => ({ doubts: 2 * doubtsOf(tool) });
  return [
    {
      name: 'and nothing else',
      common,
      play: async (cell) => (await cell.finished()).runId,
      expected,
    },
    {
      name: 'killed when that was stored',
      common,
      play: async (cell) => {
        await cell.killedAt(
          cell.tool === 'reconcilable' ? 'after commit result' : 'after commit question',
        );
        return (await cell.finished()).runId;
      },
      expected,
    },
  ];
}

function diskFull(): Case {
  return {
    name: 'full before the second effect; the process lives on',
    common: { script: 'large-result' },
    play: async (cell) => {
      const child = await cell.finished({ faults: ['disk-full'] });
      const isRefused = child.said.some((line) => 'refused' in line && /full/i.test(line.refused));
      if (!isRefused) throw new Error(`The disk was never full: ${cell.said()}`);
      return child.runId;
    },
    expected: (tool) => ({ doubts: doubtsOf(tool) }),
  };
}

function clockSetBack(): Case {
  return {
    name: 'set back under an owner that is then killed',
    play: async (cell: Cell) => {
      const child = cell.start({
        faults: ['clock-set-back'],
        stops: [
          { at: 'before the effect', step: 2, how: 'hold' },
          { at: 'after the effect', step: 2, how: 'kill' },
        ],
      });
      await child.reaches('before the effect');
      await pause(HEARTBEAT_MS);
      child.goOn();
      await child.killed();
      return (await cell.finished({ faults: ['clock-was-set-back'] })).runId;
    },
    expected: (tool) => ({ doubts: doubtsOf(tool) }),
  };
}
