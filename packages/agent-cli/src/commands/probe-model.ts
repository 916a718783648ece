import type { ModelConclusion, ModelFinding, ModelProbe } from '@hexagent/agent-core';
import { configuredProbes, type OpenedProbes, probesAt } from '../doctor/open-probes.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import type { Output } from '../render/output.ts';
import { UsageError } from '../usage-error.ts';
import type { Task } from './perform.ts';

export type ProbeModelOptions = {
  readonly baseUrl?: string | undefined;
  readonly apiKeyEnv?: string | undefined;
};

/**
 * `hexagent doctor --model`: what the model server really does, and the options that fit it. What it does not do is a
 * finding, no error; it ends with 1 when there is nobody to ask.
 */
export async function probeModel(task: Task<ProbeModelOptions>): Promise<ExitCode> {
  const { output, signal } = task;
  const { probes, close } = await opened(task);
  try {
    for (const probe of probes) await show(probe, output, signal);
  } finally {
    await close();
  }
  return EXIT.completed;
}

async function opened(task: Task<ProbeModelOptions>): Promise<OpenedProbes> {
  const { io, options } = task;
  const { baseUrl, apiKeyEnv } = options;
  if (baseUrl === undefined) {
    if (apiKeyEnv === undefined) return configuredProbes(task);
    throw new UsageError(
      '--api-key-env is given without --base-url.',
      'Add --base-url; a configured model has its own key.',
    );
  }
  const apiKey = apiKeyEnv === undefined ? undefined : io.env[apiKeyEnv];
  if (apiKeyEnv !== undefined && (apiKey === undefined || apiKey === '')) {
    throw new UsageError(
      `The environment has no ${apiKeyEnv}.`,
      `Set it to the key, or leave --api-key-env out.`,
    );
  }
  return probesAt(io.cwd, { baseUrl, apiKey });
}

async function show(probe: ModelProbe, output: Output, signal: AbortSignal): Promise<void> {
  output.progress(`looking at ${probe.id}`);
  for await (const event of probe.probe({ signal })) {
    output.progress();
    output.record(event.type, { provider: probe.id, ...withoutType(event) });
    if (event.type === 'finding') printFinding(output, event);
    else printConclusion(output, event);
  }
}

/** The record has the type as its own. */
function withoutType({ type: _, ...rest }: ModelFinding | ModelConclusion): object {
  return rest;
}

const MARKS = { yes: '✓', no: '✗', unknown: '?' } as const;

function printFinding({ style, line, safe }: Output, { name, status, detail }: ModelFinding): void {
  const colour = { yes: style.good, no: style.bad, unknown: style.faint }[status];
  line(`${colour(`${MARKS[status]} ${status.padEnd(7)}`)} ${name}: ${safe(detail)}`);
}

function printConclusion({ line, safe }: Output, { model, code }: ModelConclusion): void {
  line();
  line(`For ${safe(model)} use:`);
  line();
  for (const each of code.split('\n')) line(`  ${safe(each)}`);
}
