import {
  ADMISSIONS,
  type Admission,
  type ModelSelection,
  type RunInput,
} from '@hexagent/agent-core';
import { Command, Option } from 'commander';
import { exitCodeOf } from '../exit-code.ts';
import { UsageError } from '../usage-error.ts';
import { cancelOnInterrupt } from './cancel-run.ts';
import { chooseAgent } from './choose-agent.ts';
import { followRun } from './follow-run.ts';
import type { CommandHost } from './host.ts';
import { parseJsonObject } from './json-argument.ts';
import { perform, type Task } from './perform.ts';
import { readStdin } from './read-stdin.ts';

type RunOptions = {
  readonly conversation?: string;
  readonly admission?: Admission;
  readonly metadata?: readonly string[];
  readonly state?: string;
  readonly model?: string;
  readonly provider?: string;
  readonly profile?: string;
  readonly requestKey?: string;
};

const EXAMPLE = 'hexagent run <agent> "What is 2 + 40?"';

/** `hexagent run [agent] <message>` */
export function runCommand(host: CommandHost): Command {
  return new Command('run')
    .description('start a run and show it until it pauses or ends')
    .usage('[options] [agent] <message>')
    .argument('<agent-or-message>', 'the agent; may be left out when there is only one')
    .argument('[message]', 'what the agent is asked; "-" reads it from stdin')
    .option('--conversation <id>', 'the conversation that this run belongs to')
    .addOption(
      new Option(
        '--admission <what>',
        'while another run of the conversation is open: refuse, wait for it, or cancel it',
      ).choices(ADMISSIONS),
    )
    .option('--metadata <key=value...>', 'metadata of the run, for policies and telemetry')
    .option('--state <json>', 'the shared state that the run starts with')
    .option('--model <name>', 'the model to use, among what the model adapter offers')
    .option('--provider <name>', 'the provider to use')
    .option('--profile <name>', 'the model profile to use')
    .option('--request-key <key>', 'your own id of this start: the same key never starts two runs')
    .action(perform<RunOptions>(host, run));
}

async function run(task: Task<RunOptions>): Promise<ReturnType<typeof exitCodeOf>> {
  const { output, interrupts, signal, options } = task;
  const fields = inputFields(options);
  const opened = await task.open({ start: true });
  const { app } = opened;
  const caller = {
    ...opened.caller,
    ...(options.requestKey === undefined ? {} : { requestKey: options.requestKey }),
  };
  const [first = '', second] = task.args;
  const names = app.runs.agents(caller).map(({ name }) => name);
  if (second === undefined && names.includes(first)) {
    throw new UsageError(`There is no message for the agent "${first}".`, `Give one: ${EXAMPLE}`);
  }
  const agent = chooseAgent(opened, {
    name: second === undefined ? undefined : first,
    example: EXAMPLE,
  });
  const message = await messageOf(second ?? first, { io: task.io, signal });
  const handle = await app.runs.start(agent, { ...fields, message }, caller);
  const onInterrupt = cancelOnInterrupt(opened, { runId: handle.runId, output });
  if (fields.admission === 'queue' || fields.admission === 'interrupt') {
    const { status } = await app.runs.get(handle.runId, caller);
    if (status === 'created')
      output.note(output.style.faint(`The run ${handle.runId} waits for the run before it.`));
  }
  const { result } = await followRun(handle, { output, interrupts, onInterrupt });
  return exitCodeOf(result.kind);
}

async function messageOf(
  text: string,
  { io, signal }: Pick<Task<RunOptions>, 'io' | 'signal'>,
): Promise<string> {
  const message = text === '-' ? (await readStdin(io, { signal })).trim() : text;
  if (message !== '') return message;
  throw new UsageError('The message is empty.', `Give one: ${EXAMPLE}`);
}

function inputFields(options: RunOptions): Omit<RunInput, 'message'> {
  const { conversation, admission, metadata, state, model, provider, profile } = options;
  const selection: ModelSelection = {
    ...(model === undefined ? {} : { model }),
    ...(provider === undefined ? {} : { provider }),
    ...(profile === undefined ? {} : { profile }),
  };
  return {
    ...(conversation === undefined ? {} : { conversationId: conversation }),
    ...(admission === undefined ? {} : { admission }),
    ...(metadata === undefined ? {} : { metadata: metadataOf(metadata) }),
    ...(state === undefined ? {} : { state: parseJsonObject('state', state) }),
    ...(Object.keys(selection).length === 0 ? {} : { selection }),
  };
}

function metadataOf(pairs: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const end = pair.indexOf('=');
      if (end > 0) return [pair.slice(0, end), pair.slice(end + 1)];
      throw new UsageError(
        `--metadata must be key=value, not ${JSON.stringify(pair)}.`,
        'For example --metadata ticket=4711 team=support.',
      );
    }),
  );
}
