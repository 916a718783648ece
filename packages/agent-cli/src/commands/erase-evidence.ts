import type { App, Caller, RunId } from '@hexagent/agent-core';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { counted } from '../render/counted.ts';
import { UsageError } from '../usage-error.ts';
import { confirmed } from './confirm.ts';
import type { Task } from './perform.ts';

/** The most that one call of the gateway erases. */
const AT_ONCE = 500;

/** Blanks the payloads of rows, once somebody has said that it is meant. */
export async function eraseRows(
  task: Task<object>,
  { runId, rows, yes }: { readonly runId: RunId; readonly rows: string; readonly yes: boolean },
): Promise<ExitCode> {
  const { output } = task;
  const named = rows === 'all' ? undefined : rowNumbers(rows);
  const { app, caller } = await task.open({ start: false });
  const numbers = named ?? (await everyRow(app, runId, caller));
  const question = `Erase the payloads of ${counted(numbers.length, 'row')} of ${runId} for ever?`;
  if (!(await confirmed(task, { question, yes }))) return EXIT.error;
  let erased = 0;
  for (let at = 0; at < numbers.length; at += AT_ONCE)
    erased += await app.runs.eraseEvidence(runId, numbers.slice(at, at + AT_ONCE), caller);
  output.record('erased', { runId, rows: erased });
  output.note(output.style.good(`Erased ${counted(erased, 'row')}; the hashes stay.`));
  return EXIT.completed;
}

/** `3,7-9` */
function rowNumbers(text: string): readonly number[] {
  const numbers: number[] = [];
  for (const range of text.split(',')) {
    const [, from, to] = /^\s*(\d+)(?:-(\d+))?\s*$/.exec(range) ?? [];
    const first = Number(from);
    const last = to === undefined ? first : Number(to);
    if (!(first >= 1 && last >= first && last - first < 100_000))
      throw new UsageError(
        `--erase must name rows, not ${JSON.stringify(text)}.`,
        'For example --erase 3, --erase 3,7-9, or --erase all.',
      );
    for (let row = first; row <= last; row += 1) numbers.push(row);
  }
  return numbers;
}

async function everyRow(app: App, runId: RunId, caller: Caller): Promise<readonly number[]> {
  const numbers: number[] = [];
  for (let after = 0; ; after = numbers.at(-1) ?? after) {
    const page = await app.runs.evidence(runId, { after }, caller);
    if (page.length === 0) return numbers;
    numbers.push(...page.map(({ seq }) => seq));
  }
}
