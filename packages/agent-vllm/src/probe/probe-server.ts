import type { ModelConclusion, ModelFinding, ModelProbe, Stop } from '@hexagent/agent-core';
import { serverConnection } from '../server-connection.ts';
import { noModelServed, type ServedModel, servedModels, windowOfProps } from '../server-models.ts';
import type { ServerProfile } from '../server-profile.ts';
import type { ProfileChoice } from '../server-profiles.ts';
import { type Settings, settingsOf } from '../settings.ts';
import type { VllmOptions } from '../vllm-options.ts';
import { abortProbe } from './abort-probe.ts';
import { limitProbes } from './limit-probes.ts';
import { finding, type Probe, type ProbeResult, wordsOf } from './probe.ts';
import { type ProbeBench, withinTime } from './probe-bench.ts';
import { baseOf, codeOf, profileOf } from './profile-of.ts';
import { schemaProbes } from './schema-probes.ts';
import { streamProbes } from './stream-probes.ts';
import { toolProbes } from './tool-probes.ts';

export type ProbeOptions = VllmOptions & {
  /** How long one probe may take; default 30,000 milliseconds. */
  readonly probeMs?: number;
};

/** What a server really does. */
export type ServerReport = {
  /** The model that was asked. */
  readonly model: string;
  readonly findings: readonly ModelFinding[];
  readonly profile: ProfileChoice;
  /** The plugin with that profile, as code. */
  readonly code: string;
};

type Conclusion = ModelConclusion & { readonly profile: ProfileChoice };

const PROBES: readonly Probe[] = [
  ...streamProbes,
  ...toolProbes,
  ...schemaProbes,
  ...limitProbes,
  abortProbe,
];

/**
 * Asks a server what it can do, in about twenty small requests, each bounded in time and tokens. Throws when there is no
 * server or no model to ask, and `signal.reason` once aborted; everything else that goes wrong is a finding.
 */
export async function probeServer(options: ProbeOptions, stop: Stop): Promise<ServerReport> {
  const findings: ModelFinding[] = [];
  for await (const event of probing(options, stop)) {
    if (event.type === 'finding') findings.push(event);
    else return { model: event.model, findings, profile: event.profile, code: event.code };
  }
  throw new TypeError('a probe ends in its conclusion');
}

/** The same as a port, with the findings as they come. */
export function serverProbe(options: ProbeOptions): ModelProbe {
  return {
    id: settingsOf(withoutTime(options)).profile.name,
    probe: (stop) => probing(options, stop),
  };
}

async function* probing(
  options: ProbeOptions,
  { signal }: Stop,
): AsyncGenerator<ModelFinding | Conclusion> {
  const settings = settingsOf(withoutTime(options));
  const connection = serverConnection(settings);
  const { probeMs = 30_000 } = options;
  const opened = { settings, connection, probeMs, found: {} };
  try {
    const models = await listed(opened, signal);
    const model = settings.model ?? models[0]?.id;
    if (model === undefined) throw noModelServed(`${settings.baseUrl}/models`);
    yield modelsFound(models);
    const window = await windowOf(opened, { models, model, signal });
    yield window === undefined
      ? finding('context window', 'unknown', 'the server does not tell it')
      : finding('context window', 'yes', `${window} tokens`);
    let found: Partial<ServerProfile> = {};
    for (const probe of PROBES) {
      const { findings, profile } = await looked(
        probe,
        { ...opened, model, window, found },
        signal,
      );
      yield* findings;
      found = { ...found, ...profile };
    }
    const profile = profileOf(baseOf({ options, models, found }), found, options);
    yield { type: 'conclusion', model, profile, code: codeOf(options, model, profile) };
  } finally {
    connection.close();
  }
}

function withoutTime({ probeMs: _, ...options }: ProbeOptions): VllmOptions {
  return options;
}

type Opened = Omit<ProbeBench, 'model' | 'window'>;

function ask({ connection }: Opened, url: string, signal: AbortSignal): Promise<string> {
  return connection.text({ method: 'GET', url, accept: 'application/json' }, signal);
}

/** A server that lists nothing can still be asked, where a model is named. */
async function listed(opened: Opened, signal: AbortSignal): Promise<readonly ServedModel[]> {
  const url = `${opened.settings.baseUrl}/models`;
  const bench = { ...opened, model: '', window: undefined };
  try {
    return servedModels(await withinTime(bench, signal, (stop) => ask(opened, url, stop)), url);
  } catch (error) {
    signal.throwIfAborted();
    if (opened.settings.model === undefined || isGone(error)) throw error;
    return [];
  }
}

function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'MODEL_UNREACHABLE';
}

function modelsFound(models: readonly ServedModel[]): ModelFinding {
  if (models.length === 0) return finding('models', 'no', 'the server lists none');
  const shown = models.slice(0, 5).map(({ id }) => id);
  const more = models.length > shown.length ? ` and ${models.length - shown.length} more` : '';
  return finding('models', 'yes', `${shown.join(', ')}${more}`);
}

async function windowOf(
  opened: Opened,
  of: {
    readonly models: readonly ServedModel[];
    readonly model: string;
    readonly signal: AbortSignal;
  },
): Promise<number | undefined> {
  const { settings }: { readonly settings: Settings } = opened;
  const served = of.models.find(({ id }) => id === of.model)?.contextWindow;
  const told = settings.contextWindow ?? served;
  if (told !== undefined) return told;
  const bench = { ...opened, model: of.model, window: undefined };
  try {
    return windowOfProps(
      await withinTime(bench, of.signal, (stop) => ask(opened, `${settings.rootUrl}/props`, stop)),
    );
  } catch {
    of.signal.throwIfAborted();
    return undefined;
  }
}

/** One probe: what it fails of is what it has found. */
async function looked(
  { name, look }: Probe,
  bench: ProbeBench,
  signal: AbortSignal,
): Promise<ProbeResult> {
  try {
    return await withinTime(bench, signal, (stop) => look(bench, stop));
  } catch (error) {
    signal.throwIfAborted();
    return { findings: [finding(name, 'unknown', wordsOf(error))] };
  }
}
