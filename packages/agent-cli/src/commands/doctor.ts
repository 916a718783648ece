import { Command } from 'commander';
import type { Check } from '../doctor/check.ts';
import { examine } from '../doctor/examine.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import type { Output } from '../render/output.ts';
import type { CommandHost } from './host.ts';
import { perform, type Task } from './perform.ts';

type DoctorOptions = { readonly write?: boolean; readonly model: boolean };

/** `hexagent doctor` */
export function doctorCommand(host: CommandHost): Command {
  return new Command('doctor')
    .description('check configuration, plugins, store and model')
    .option('--write', 'also the rules that write, in the tenant "hexagent-doctor"')
    .option('--no-model', 'send no request to the model')
    .action(perform<DoctorOptions>(host, doctor));
}

async function doctor(task: Task<DoctorOptions>): Promise<ExitCode> {
  const { output, options } = task;
  const counts = { ok: 0, failed: 0, skipped: 0 };
  const write = options.write === true;
  for await (const check of examine(task, { write, model: options.model })) {
    counts[check.status] += 1;
    output.record('check', check);
    printCheck(output, check);
  }
  output.record('summary', counts);
  output.line(`${counts.ok} ok, ${counts.failed} failed, ${counts.skipped} skipped`);
  return counts.failed === 0 ? EXIT.completed : EXIT.error;
}

const MARKS = { ok: '✓', failed: '✗', skipped: '–' } as const;

function printCheck(
  { style, line, safe }: Output,
  { subject, name, status, detail, mend }: Check,
): void {
  const colour = { ok: style.good, failed: style.bad, skipped: style.faint }[status];
  line(`${colour(MARKS[status])} ${subject}: ${name}${detail === '' ? '' : ` (${safe(detail)})`}`);
  if (mend !== undefined) line(`  ${style.attention('Mend')}: ${safe(mend)}`);
}
