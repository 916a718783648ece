import { Type } from 'typebox';
import { expect, test } from 'vitest';
import {
  bind,
  defineAgent,
  defineTool,
  effects,
  runControls,
  Sealer,
  secret,
} from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import { answer, appOf, NEVER, toySealer } from './harness.ts';

/** A tool with a secret argument of a strict form: a mask would neither fit nor work. */
function sender() {
  const sent: unknown[] = [];
  const send = defineTool({
    name: 'send',
    description: 'Sends.',
    input: Type.Object({
      to: Type.String(),
      key: secret(Type.String({ pattern: '^sk-' }), { label: 'key' }),
    }),
    effects: effects.externalSideEffect(),
    execute: (input) => {
      sent.push(input);
      return 'sent';
    },
  });
  return { send, sent };
}

const asks = { calls: [{ name: 'send', input: { to: 'ada', key: 'sk-1' } }] };
const done = { text: 'Done.' };
/** A durable agent whose tools take secrets has one. */
const provide = [bind(Sealer, toySealer)];

test('a person who edits what was shown leaves what was masked as it was', async () => {
  const { send, sent } = sender();
  const agent = defineAgent({ name: 'sender', recovery: 'action-boundary', tools: [send] });
  const app = await appOf(agent, [asks, done], { store: memoryStore(), provide });
  const run = await app.start(agent, 'go');
  const paused = await run.result;
  const [wait] = paused.kind === 'paused' ? paused.waits : [];
  const shown = wait?.prompt['arguments'] as { readonly to: string; readonly key: string };
  expect(shown.key).not.toContain('sk-1');
  await answer(app, run.runId, { decision: 'modify', input: { ...shown, to: 'bob' } });
  await (await app.attach(agent, run.runId)).result;
  expect(sent).toEqual([{ to: 'bob', key: 'sk-1' }]);
});

test('a mask in another place is refused at the door, and never reaches the tool', async () => {
  const { send, sent } = sender();
  const agent = defineAgent({ name: 'sender', recovery: 'action-boundary', tools: [send] });
  const store = memoryStore();
  const app = await appOf(agent, [asks, done], { store, provide });
  const run = await app.start(agent, 'go');
  const paused = await run.result;
  const [wait] = paused.kind === 'paused' ? paused.waits : [];
  if (wait === undefined) throw new Error('no wait');
  const { key } = wait.prompt['arguments'] as { readonly key: string };
  const input = { to: key, key: 'sk-2' };
  await expect(answer(app, run.runId, { decision: 'modify', input })).rejects.toMatchObject({
    code: 'INPUT_INVALID',
    message: expect.stringContaining('was not shown'),
  });
  const resolution = { plain: { decision: 'modify', input } } as const;
  await store.inbox.resolve(
    wait.id,
    { digest: wait.digest, decision: 'modify', resolution, by: 'script' },
    { signal: NEVER },
  );
  expect(await (await app.attach(agent, run.runId)).result).toMatchObject({
    kind: 'paused',
    waits: [{ prompt: { problems: [expect.stringContaining('was not shown')] } }],
  });
  await answer(app, run.runId, { decision: 'modify', input: { to: 'bob', key: 'sk-2' } });
  await (await app.attach(agent, run.runId)).result;
  expect(sent).toEqual([{ to: 'bob', key: 'sk-2' }]);
});

test('a custom loop takes an edit as it was meant, too', async () => {
  const { send, sent } = sender();
  const agent = defineAgent({
    name: 'body',
    recovery: 'action-boundary',
    tools: [send],
    execute: async (_input, context) => {
      const { runTool } = runControls(context);
      const outcomes: string[] = [];
      for (const to of ['ada', 'eve'])
        outcomes.push((await runTool({ name: 'send', input: { to, key: 'sk-1' } })).outcome);
      return outcomes;
    },
  });
  const app = await appOf(agent, [], { store: memoryStore(), provide });
  const run = await app.start(agent, 'go');
  for await (const { event } of run.events()) {
    if (event.type !== 'wait-opened') continue;
    const shown = event.wait.prompt['arguments'] as { readonly to: string; readonly key: string };
    const input = shown.to === 'ada' ? { ...shown, to: 'bob' } : { to: shown.key, key: 'sk-3' };
    await app.runs.resolve(event.wait.id, { decision: 'modify', input }, app.local('me'));
  }
  expect(await run.result).toMatchObject({ output: ['ok', 'error'] });
  expect(sent).toEqual([{ to: 'bob', key: 'sk-1' }]);
});
