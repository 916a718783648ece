import { expect, test } from 'vitest';
import {
  bind,
  bootstrap,
  defineAgent,
  httpStatusOf,
  Model,
  type ModelSelection,
  type Plugin,
} from '../../src/index.ts';
import { memoryDurability, memoryStore, scripted } from '../../src/testing/index.ts';

/** A scripted model that takes one name only. */
function appWith(
  agent: ReturnType<typeof defineAgent>,
  options: {
    readonly selection?: false | readonly ModelSelection[];
    readonly plugins?: readonly Plugin[];
  } = {},
) {
  const inner = scripted([{ text: 'Hello.' }]);
  const takes = {
    ...inner,
    selectionProblem: ({ model }: ModelSelection) =>
      model === 'known' || model === 'other' ? undefined : `it has no "${model}".`,
  };
  return bootstrap({
    plugins: options.plugins ?? [],
    agents: [agent],
    provide: [bind(Model, takes)],
    ...(options.selection === undefined ? {} : { selection: options.selection }),
  });
}

const KNOWN: ModelSelection = { model: 'known' };
const OTHER: ModelSelection = { model: 'other' };

test.each([
  {
    what: 'an agent that is open to nothing',
    agent: false as const,
    why: 'the agent "chooser" does not take: it lets callers select nothing.',
    mend: 'Leave the selection out.',
  },
  {
    what: 'an agent that lists others',
    agent: [OTHER],
    why: 'the agent "chooser" does not take: it is not one of those that are open to callers.',
    mend: 'Select one of: {"model":"other"}; or leave it out.',
  },
  {
    what: 'an operator that lists others',
    agent: [KNOWN, OTHER],
    operator: [OTHER],
    why: 'this application does not take: it is not one of those that are open to callers.',
    mend: 'Select one of: {"model":"other"}; or leave it out.',
  },
  {
    what: 'an operator with an empty list',
    operator: [],
    why: 'this application does not take: it lets callers select nothing.',
    mend: 'Leave the selection out.',
  },
])('a selection is refused by $what, before anything is stored', async (given) => {
  const { agent: selection, operator, why, mend } = given;
  const agent = defineAgent({
    name: 'chooser',
    recovery: 'action-boundary',
    ...(selection === undefined ? {} : { selection }),
  });
  const app = await appWith(agent, {
    plugins: [memoryDurability(memoryStore())],
    ...(operator === undefined ? {} : { selection: operator }),
  });
  await expect(app.run(agent, { message: 'go', selection: KNOWN })).rejects.toMatchObject({
    code: 'MODEL_SELECTION_REFUSED',
    message: `The run selects {"model":"known"}, which ${why}`,
    mend,
  });
  expect((await app.runs.list({}, app.local('test'))).items).toEqual([]);
  expect(httpStatusOf('MODEL_SELECTION_REFUSED')).toBe(422);
  await app.close();
});

test('a selection that the model does not take is refused in its words', async () => {
  const agent = defineAgent({ name: 'chooser' });
  const app = await appWith(agent);
  await expect(
    app.run(agent, { message: 'go', selection: { model: 'unknown' } }),
  ).rejects.toMatchObject({
    message:
      'The run selects {"model":"unknown"}, which the model "scripted" does not take: it has no "unknown".',
  });
  await app.close();
});

test('what is listed is taken, and so is a selection of nothing', async () => {
  const agent = defineAgent({ name: 'chooser', selection: [KNOWN] });
  for (const selection of [KNOWN, {}]) {
    const app = await appWith(agent, { selection: [OTHER, KNOWN] });
    expect(await app.run(agent, { message: 'go', selection })).toMatchObject({ kind: 'completed' });
    await app.close();
  }
});

test('the form of a selection is checked, and it is closed', async () => {
  const agent = defineAgent({ name: 'chooser' });
  const app = await appWith(agent);
  const selection = { model: '', temperature: 1, provider: undefined } as never;
  await expect(app.run(agent, { message: 'go', selection })).rejects.toMatchObject({
    code: 'INPUT_INVALID',
    problems: [
      { at: 'input.selection.model', seen: 'is "".' },
      { at: 'input.selection.temperature', seen: 'is not known.' },
    ],
  });
  await app.close();
});

test('lists that hold what the model does not take are refused at bootstrap, all at once', async () => {
  const agent = defineAgent({ name: 'chooser', selection: [KNOWN, { model: 'a' }] });
  await expect(appWith(agent, { selection: [{ model: 'b' }] })).rejects.toMatchObject({
    code: 'BOOTSTRAP_INVALID',
    message: expect.stringMatching(
      /selection\[0\]: is \{"model":"b"\}, which the model does not take: it has no "b"\.[\s\S]*agents\[0\] \(chooser\)\.selection\[1\]: is \{"model":"a"\}/,
    ),
  });
  await expect(appWith(agent, { selection: 'all' as never })).rejects.toMatchObject({
    message: expect.stringContaining('selection: is "all". Say false, or list selections.'),
  });
});

test('what a model can do is known before a run', async () => {
  const app = await appWith(defineAgent({ name: 'chooser' }));
  expect(app.capabilities(KNOWN)).toMatchObject({ tools: true, inputModalities: ['text'] });
  await app.close();
  const bare = await bootstrap({ plugins: [], agents: [] });
  expect(bare.capabilities()).toBeUndefined();
  await bare.close();
});
