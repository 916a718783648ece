import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AgentModel,
  type App,
  Durability,
  type DurableStore,
  Migrator,
  Model,
} from '@hexagent/agent-core';
import type { Task } from '../commands/perform.ts';
import { findConfig } from '../config/find-config.ts';
import { loadConfig } from '../config/load-config.ts';
import { checkPlugin } from '../plugins/check-plugin.ts';
import { installedPackages } from '../plugins/installed-plugins.ts';
import { askModel } from './ask-model.ts';
import { type Check, checked } from './check.ts';
import { runRules } from './run-rules.ts';

const TENANT = 'hexagent-doctor';

export type ExamineOptions = { readonly write: boolean; readonly model: boolean };

/** Looks at everything that a run needs, from the outside to the inside; what depends on a failure is left out. */
export async function* examine(
  task: Pick<Task<object>, 'io' | 'options' | 'signal' | 'open'>,
  options: ExamineOptions,
): AsyncGenerator<Check> {
  const { io, signal } = task;
  let path = '';
  const config = await checked({ subject: 'config', name: 'the configuration loads' }, async () => {
    path = findConfig({ cwd: io.cwd, config: task.options.config });
    const { plugins, agents } = await loadConfig(path);
    return `${path}: ${plugins.length} plugins, ${agents.length} agents`;
  });
  yield config;
  yield* examinePlugins(path === '' ? io.cwd : dirname(path));
  if (config.status === 'failed') return;

  let app: App | undefined;
  yield await checked({ subject: 'application', name: 'it can be composed' }, async () => {
    const opened = await task.open({ start: false });
    app = opened.app;
    return (
      app.runs
        .agents(opened.caller)
        .map(({ name }) => name)
        .join(', ') || 'no agents'
    );
  });
  if (app === undefined) return;
  for (const migrator of app.all(Migrator)) yield await examineMigrations(migrator, signal);
  for (const store of app.all(Durability)) yield* examineStore(store, options);
  if (!options.model) {
    yield { subject: 'model', name: 'it answers', status: 'skipped', detail: 'by --no-model' };
    return;
  }
  for (const model of app.all(Model)) yield* examineModel(model, { ...options, signal });
}

async function* examinePlugins(folder: string): AsyncGenerator<Check> {
  for (const installed of await installedPackages(folder)) {
    const name = `${installed.name} ${installed.version}`;
    const { problems } = await checkPlugin(installed);
    yield problems.length === 0
      ? { subject: 'plugins', name, status: 'ok', detail: '' }
      : {
          subject: 'plugins',
          name,
          status: 'failed',
          detail: problems.join(' '),
          mend: 'Install it again, or another version of it.',
        };
  }
}

function examineMigrations(migrator: Migrator, signal: AbortSignal): Promise<Check> {
  return checked({ subject: 'migrations', name: migrator.name }, async () => {
    const pending = await migrator.pending({ signal });
    if (pending.length === 0) return 'up to date';
    throw new Error(
      `${pending.length} are not applied: ${pending.join(', ')}. Run hexagent migrate.`,
    );
  });
}

async function* examineStore(
  store: DurableStore,
  { write }: ExamineOptions,
): AsyncGenerator<Check> {
  const capabilities = [
    'clock',
    ...(store.log.changed === undefined ? [] : ['log-changed']),
    ...(store.log.prune === undefined ? [] : ['log-prune']),
  ];
  const advance = async (ms: number): Promise<void> => {
    await sleep(ms);
  };
  const { storeContract } = await import('@hexagent/agent-core/testing');
  yield* runRules(storeContract, {
    subject: 'store',
    of: { store, tenant: TENANT, capabilities, advance },
    capabilities,
    write,
  });
}

/** The rules send small requests of their own, so they come after one that was answered. */
async function* examineModel(
  model: AgentModel,
  { write, signal }: ExamineOptions & { readonly signal: AbortSignal },
): AsyncGenerator<Check> {
  const answered = await askModel(model, { signal });
  yield answered;
  if (answered.status === 'failed') return;
  const { modelContract } = await import('@hexagent/agent-core/testing');
  yield* runRules(modelContract, {
    subject: 'model',
    of: { model },
    capabilities: model.countTokens === undefined ? [] : ['count-tokens'],
    write,
  });
}
