import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type AgentDefinition,
  type App,
  bind,
  bootstrap,
  type DurableStore,
  type Envelope,
  type Plugin,
  type RunHandle,
  textOf,
} from '@hexagent/agent-core';
import { memoryDurability, memoryStore } from '@hexagent/agent-core/testing';
import { expect, onTestFinished, test } from 'vitest';
import { localGit } from '../src/adapters/local-git.ts';
import { localShell } from '../src/adapters/local-shell.ts';
import { localWorkspace } from '../src/adapters/local-workspace.ts';
import { Git } from '../src/ports/git.ts';
import { Shell } from '../src/ports/shell.ts';
import { Workspace } from '../src/ports/workspace.ts';
import { aborted, call, gate, playedModel, text } from './played-model.ts';
import { temporaryFolder } from './temporary-folder.ts';

export type Composed = { readonly app: App; readonly root: string; readonly store: DurableStore };

/** An application around one agent, with real adapters on a temporary folder. */
export async function composed(
  agent: AgentDefinition,
  {
    model,
    root = temporaryFolder({ 'a.txt': 'old\n' }),
    store = memoryStore(),
  }: { readonly model: Plugin; readonly root?: string; readonly store?: DurableStore },
): Promise<Composed> {
  const app = await bootstrap({
    plugins: [model, memoryDurability(store)],
    provide: [
      bind(Workspace, localWorkspace(root)),
      bind(Shell, localShell(root)),
      bind(Git, localGit(root)),
    ],
    agents: [agent],
  });
  onTestFinished(() => app.close());
  return { app, root, store };
}

export async function eventsOf(run: RunHandle): Promise<readonly Envelope[]> {
  const events: Envelope[] = [];
  for await (const envelope of run.events({ after: 0 })) events.push(envelope);
  return events;
}

/** What holds for the code assistant, whoever wrote its loop. */
export function behavesUnderSignals(agent: AgentDefinition): void {
  test('a cancel ends the run while the model speaks', async () => {
    const speaking = gate();
    const model = playedModel([
      async function* (_request, signal) {
        yield text('I begin ');
        speaking.open();
        await aborted(signal);
      },
    ]);
    const { app, root } = await composed(agent, { model });
    const run = await app.start(agent, 'Do something long.');
    await speaking.opened;
    await app.runs.cancel(run.runId, 'not needed any more', app.local('local'));
    expect(await run.result).toMatchObject({ kind: 'cancelled', reason: 'not needed any more' });
    const ends = (await eventsOf(run)).filter(({ event }) => event.type === 'run-finished');
    expect(ends).toHaveLength(1);
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('old\n');
  });

  test('a cancel ends the run while a tool works', async () => {
    const model = playedModel([
      () => call('workspace.search', { pattern: '^(a+)+$', syntax: 'regex' }),
    ]);
    const root = temporaryFolder({ 'a.txt': `${'a'.repeat(60)}!\n` });
    const { app } = await composed(agent, { model, root });
    const run = await app.start(agent, 'Search for it.');
    for await (const { event } of run.events()) {
      if (event.type !== 'tool-call-end' && event.type !== 'progress') continue;
      await app.runs.cancel(run.runId, undefined, app.local('local'));
      break;
    }
    expect((await run.result).kind).toBe('cancelled');
  });

  test('a steering instruction reaches the model at the next boundary', async () => {
    const steered = gate();
    const model = playedModel([
      async function* () {
        yield text('I look first.');
        await steered.opened;
        yield* call('workspace.read', { path: 'a.txt' });
      },
      () => [text('As you say.')],
    ]);
    const { app } = await composed(agent, { model });
    const run = await app.start(agent, 'Look at a.txt.');
    const signal = {
      kind: 'steering-instruction',
      payload: { instruction: 'answer in one word' },
    } as const;
    await app.runs.signal(run.runId, signal, app.local('local'));
    steered.open();
    expect(await run.result).toMatchObject({ kind: 'completed', text: 'As you say.' });
    const asked = model.requests[1]?.messages.map(({ parts }) => textOf(parts));
    expect(asked).toContain('answer in one word');
  });
}
