import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { App, Caller, Envelope, RunId } from '@hexagent/agent-core';
import type { Order } from './order.ts';

/** An event as a client keeps it. */
export type Seen = {
  readonly seq: number;
  readonly type: string;
  readonly stepId?: string;
  readonly steps?: readonly string[];
  readonly after?: number;
};

/** Who has read in this folder. */
export function readersIn(folder: string): readonly string[] {
  return readdirSync(folder).flatMap((file) =>
    file.endsWith(END) ? [file.slice(0, -END.length)] : [],
  );
}

/** What a reader has seen, in all processes. */
export function seenBy(reader: string, folder: string): readonly Seen[] {
  const file = fileOf(reader, folder);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line): Seen => JSON.parse(line));
}

/** Reads on from what was seen last, as a client does that connects again, until the run has finished. */
export async function readOn(
  app: App,
  runId: RunId,
  { caller, order }: { readonly caller: Caller; readonly order: Order },
): Promise<void> {
  const { folder, reader = 'reader', faults } = order;
  const isForgotten = faults?.includes('cursor-forgotten') === true;
  let cursor = isForgotten ? 0 : (seenBy(reader, folder).at(-1)?.seq ?? 0);
  for (;;) {
    for await (const batch of app.runs.watch(runId, { after: cursor }, caller)) {
      for (const envelope of batch) {
        const seen = seenOf(envelope);
        appendFileSync(fileOf(reader, folder), `${JSON.stringify(seen)}\n`);
        cursor = seen.seq;
        if (seen.type === 'run-finished') return;
      }
    }
    await pause(20);
  }
}

export function seenOf({ seq, stepId, event }: Envelope): Seen {
  return {
    seq,
    type: event.type,
    ...(stepId === undefined ? {} : { stepId }),
    ...(event.type === 'rewound' ? { steps: event.steps } : {}),
    ...(event.type === 'rewound' && event.after !== undefined ? { after: event.after } : {}),
  };
}

const END = '.seen.jsonl';
const fileOf = (reader: string, folder: string): string => join(folder, `${reader}${END}`);
