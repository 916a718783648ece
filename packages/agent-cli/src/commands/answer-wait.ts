import {
  type Part,
  REMEMBERED,
  REMEMBERED_WITHIN,
  type Remember,
  rootOf,
  type WaitResolution,
  waitIdOf,
} from '@hexagent/agent-core';
import { Command, Option } from 'commander';
import { type ExitCode, exitCodeOf } from '../exit-code.ts';
import { UsageError } from '../usage-error.ts';
import { cancelOnInterrupt } from './cancel-run.ts';
import { followRun } from './follow-run.ts';
import type { CommandHost } from './host.ts';
import { parseJson, parseJsonObject } from './json-argument.ts';
import { perform, type Task } from './perform.ts';

type AnswerOptions = {
  readonly comment?: string;
  readonly digest?: string;
  readonly error?: boolean;
  readonly remember?: Remember['what'];
  readonly within?: Remember['within'];
};

/** A way of answering a wait: how it is typed, and what it means. */
type Answer = {
  readonly name: string;
  readonly description: string;
  /** An argument in JSON. */
  readonly argument?: { readonly name: string; readonly description: string };
  readonly flags?: readonly Option[];
  readonly read: (argument: string, options: AnswerOptions) => WaitResolution;
};

const ANSWERS: readonly Answer[] = [
  {
    name: 'approve',
    description: 'approve the exact arguments that were asked about, or let a run go on',
    flags: [
      new Option(
        '--remember <what>',
        'approve later calls, too: of the tool, or of these arguments',
      ).choices(REMEMBERED),
      new Option('--within <where>', 'how far it is remembered (run)').choices(REMEMBERED_WITHIN),
    ],
    read: (_argument, options) => ({ decision: 'approve', ...remembered(options) }),
  },
  {
    name: 'reject',
    description: 'reject; --comment tells the model why',
    read: () => ({ decision: 'reject' }),
  },
  {
    name: 'modify',
    description: 'approve with other arguments',
    argument: { name: 'input', description: 'the whole new arguments, a JSON object' },
    read: (argument) => ({ decision: 'modify', input: parseJsonObject('input', argument) }),
  },
  {
    name: 'defer',
    description: 'leave it open for later',
    read: () => ({ decision: 'defer' }),
  },
  {
    name: 'cancel',
    description: 'cancel what waits',
    read: () => ({ decision: 'cancel' }),
  },
  {
    name: 'answer',
    description: 'answer a question, an event, a timer or a sign-in',
    argument: { name: 'value', description: 'the answer, in JSON' },
    read: (argument) => ({ decision: 'answer', value: parseJson('value', argument) }),
  },
  {
    name: 'result',
    description: 'give the result of a tool that the client runs',
    argument: { name: 'content', description: 'the result, in JSON: a text or any other value' },
    flags: [new Option('--error', 'the tool failed')],
    read: (argument, { error }) => ({
      decision: 'result',
      outcome: error === true ? 'error' : 'ok',
      content: [partOf(argument)],
    }),
  },
  {
    name: 'happened',
    description: 'the effect took place, with this result',
    argument: { name: 'result', description: 'what the tool would have answered, in JSON' },
    read: (argument) => ({ decision: 'happened', result: parseJson('result', argument) }),
  },
  {
    name: 'did-not-happen',
    description: 'the effect did not take place: it is tried again',
    read: () => ({ decision: 'did-not-happen' }),
  },
  {
    name: 'abandon',
    description: 'leave the effect unknown and go on without it; of a run: end it as failed',
    read: () => ({ decision: 'abandon' }),
  },
];

export function answerCommands(host: CommandHost): readonly Command[] {
  return ANSWERS.map((answer) => {
    const command = new Command(answer.name).description(answer.description).argument('<wait>');
    if (answer.argument !== undefined) {
      command.argument(`<${answer.argument.name}>`, answer.argument.description);
    }
    for (const flag of answer.flags ?? []) command.addOption(flag);
    return command
      .option('--comment <text>', 'kept with the answer')
      .option('--digest <digest>', 'what you saw: the answer is refused when it is something else')
      .action(perform<AnswerOptions>(host, (task) => respond(task, answer)));
  });
}

async function respond(task: Task<AnswerOptions>, answer: Answer): Promise<ExitCode> {
  const { open, output, interrupts, args, options } = task;
  const [id = '', argument = ''] = args;
  const { comment, digest } = options;
  const resolution: WaitResolution = {
    ...answer.read(argument, options),
    ...(comment === undefined ? {} : { comment }),
    ...(digest === undefined ? {} : { digest }),
  };
  const opened = await open({ start: true });
  await opened.app.runs.resolve(waitIdOf(id), resolution, opened.caller);
  output.record('answered', { waitId: id, decision: answer.name });
  output.note(output.style.good(`Answered: ${answer.name}.`));

  const handle = await opened.app.runs.resume(rootOf(id), opened.caller);
  const { result } = await followRun(handle, {
    output,
    interrupts,
    onInterrupt: cancelOnInterrupt(opened, { runId: handle.runId, output }),
    after: 0,
    opened,
    from: ({ event }) => event.type === 'wait-closed' && event.wait.id === id,
  });
  return exitCodeOf(result.kind);
}

function remembered({ remember, within }: AnswerOptions): { readonly remember?: Remember } {
  if (remember !== undefined) return { remember: { what: remember, within: within ?? 'run' } };
  if (within === undefined) return {};
  throw new UsageError(
    '--within says how far an approval is remembered, and nothing is.',
    'Add --remember tool or --remember arguments.',
  );
}

function partOf(argument: string): Part {
  const value = parseJson('content', argument);
  return typeof value === 'string' ? { type: 'text', text: value } : { type: 'data', data: value };
}
