import { getEventListeners } from 'node:events';
import {
  type AgentDefinition,
  type App,
  type Binding,
  bind,
  bootstrap,
  Durability,
  type DurableStore,
  defineAgent,
  defineTool,
  effects,
} from '@hexagent/agent-core';
import { benchModel } from '../parts/bench-model.ts';

/** What is left after so many units of work: bytes of the heap, and listeners. */
export type Sample = { readonly done: number; readonly heap: number; readonly listeners: number };

/** Bytes that one unit of work more leaves behind, by least squares over the second half of the samples. */
export function slopeOf(samples: readonly Sample[]): number {
  const late = samples.slice(Math.floor(samples.length / 2));
  const mean = (of: (sample: Sample) => number): number =>
    late.reduce((sum, sample) => sum + of(sample), 0) / late.length;
  const [done, heap] = [mean((sample) => sample.done), mean((sample) => sample.heap)];
  const covariance = mean((sample) => (sample.done - done) * (sample.heap - heap));
  return covariance / mean((sample) => (sample.done - done) ** 2);
}

/** Cycles of one run: it asks, is answered, and goes on in a run that is taken up anew. */
const CYCLES_A_RUN = 10;

/**
 * Suspends and resumes so often. Runs that have ended are pruned, so that what grows is not what a store is there to
 * keep.
 */
export async function suspendAndResume(
  store: DurableStore,
  { cycles, samples }: { readonly cycles: number; readonly samples: number },
): Promise<readonly Sample[]> {
  const app = await appOf(asking, { store, steps: CYCLES_A_RUN });
  const caller = app.local('bench');
  const taken: Sample[] = [];
  const every = Math.max(CYCLES_A_RUN, Math.floor(cycles / samples));
  for (let done = 0; done < cycles; ) {
    let handle = await app.start(asking, 'go', { principal: caller.principal });
    for (let cycle = 0; cycle < CYCLES_A_RUN; cycle += 1) {
      await handle.result;
      const { items } = await app.runs.waits({ runId: handle.runId, status: 'pending' }, caller);
      for (const { id } of items) await app.runs.resolve(id, { decision: 'approve' }, caller);
      handle = (await app.runs.resume(handle.runId, caller)) as typeof handle;
    }
    const { kind } = await handle.result;
    if (kind !== 'completed') throw new Error(`The run came to "${kind}".`);
    const { signal } = caller;
    await store.records.prune({ endedBefore: Number.MAX_SAFE_INTEGER, keep: 'nothing', signal });
    done += CYCLES_A_RUN;
    if (done % every < CYCLES_A_RUN) taken.push(await sample(done, signal));
  }
  await app.close();
  return taken;
}

/** So many runs under one signal, side by side in groups. */
export async function runsOnOneSignal(options: {
  readonly runs: number;
  readonly together: number;
}): Promise<{ readonly samples: readonly Sample[]; readonly most: number }> {
  const app = await appOf(talking, { steps: 0 });
  const { signal } = new AbortController();
  const samples: Sample[] = [];
  let most = 0;
  for (let done = 0; done < options.runs; done += options.together) {
    const handles = await Promise.all(
      Array.from({ length: options.together }, () => app.start(talking, 'go', { signal })),
    );
    most = Math.max(most, getEventListeners(signal, 'abort').length);
    await Promise.all(handles.map(({ result }) => result));
    samples.push(await sample(done + options.together, signal));
  }
  await app.close();
  return { samples, most };
}

async function sample(done: number, signal: AbortSignal): Promise<Sample> {
  await new Promise((resolve) => setTimeout(resolve, 0));
  globalThis.gc?.();
  const listeners = getEventListeners(signal, 'abort').length;
  return { done, heap: process.memoryUsage().heapUsed, listeners };
}

const asking: AgentDefinition = defineAgent({
  name: 'asking',
  recovery: 'action-boundary',
  limits: { maxSteps: 1_000, maxToolCalls: 1_000 },
  tools: [
    defineTool({
      name: 'write',
      description: 'Writes something.',
      input: { type: 'object', properties: {} },
      effects: effects.writeState(),
      approval: 'required',
      execute: () => 'written',
    }),
  ],
});
const talking: AgentDefinition = defineAgent({ name: 'talking' });

async function appOf(
  agent: AgentDefinition,
  { store, steps }: { readonly store?: DurableStore; readonly steps: number },
): Promise<App> {
  return bootstrap({ plugins: [], provide: parts(steps, store), agents: [agent] });
}

/** A model that calls the tool so many times, and the store. */
function parts(steps: number, store: DurableStore | undefined): readonly Binding[] {
  const model = benchModel(async function* ({ messages }) {
    const answers = messages.filter(({ role }) => role === 'assistant').length;
    const usage = { inputTokens: 1, outputTokens: 1 };
    if (answers < steps)
      yield [
        { type: 'tool-call-start', index: 0, name: 'write', providerCallId: 'call_0' },
        { type: 'tool-call-delta', index: 0, delta: '{}' },
        { type: 'finish', reason: 'tool-calls', usage, model: 'bench' },
      ];
    else
      yield [
        { type: 'text', text: 'Done.' },
        { type: 'finish', reason: 'stop', usage, model: 'bench' },
      ];
  });
  return store === undefined ? [model] : [model, bind(Durability, store)];
}
