import { Command } from 'commander';
import type { Check } from '../doctor/check.ts';
import { examine } from '../doctor/examine.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import type { Output } from '../render/output.ts';
import { UsageError } from '../usage-error.ts';
import type { CommandHost } from './host.ts';
import { perform, type Task } from './perform.ts';
import { type ProbeModelOptions, probeModel } from './probe-model.ts';

type DoctorOptions = ProbeModelOptions & {
  readonly write?: boolean;
  /** True by `--model`, false by `--no-model`. */
  readonly model?: boolean;
};

/** `hexagent doctor` */
export function doctorCommand(host: CommandHost): Command {
  return new Command('doctor')
    .description('check configuration, plugins, store and model')
    .option('--write', 'also the rules that write, in the tenant "hexagent-doctor"')
    .option('--model', 'only find out what the model server really supports')
    .option('--no-model', 'send no request to the model')
    .option('--base-url <url>', 'with --model: a server that no configuration names')
    .option('--api-key-env <name>', 'with --base-url: the variable that holds its key')
    .action(perform<DoctorOptions>(host, doctor));
}

async function doctor(task: Task<DoctorOptions>): Promise<ExitCode> {
  const { output, options } = task;
  if (isProbe(options)) return probeModel(task);
  const counts = { ok: 0, failed: 0, skipped: 0 };
  const write = options.write === true;
  for await (const check of examine(task, { write, model: options.model !== false })) {
    counts[check.status] += 1;
    output.record('check', check);
    printCheck(output, check);
  }
  output.record('summary', counts);
  output.line(`${counts.ok} ok, ${counts.failed} failed, ${counts.skipped} skipped`);
  return counts.failed === 0 ? EXIT.completed : EXIT.error;
}

function isProbe({ model, baseUrl, apiKeyEnv }: DoctorOptions): boolean {
  const names = baseUrl !== undefined || apiKeyEnv !== undefined;
  if (model === false && names) {
    throw new UsageError(
      '--no-model asks no model, and a server is named.',
      'Leave out --no-model, or --base-url and --api-key-env.',
    );
  }
  return model === true || names;
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
