import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { AgentError } from '../base/error.ts';
import { definePort } from '../base/port.ts';
import type { Schema } from '../base/schema-types.ts';
import { clientTool, defineTool } from '../tools/define-tool.ts';
import { effects } from '../tools/effects.ts';
import type { Tool } from '../tools/tool.ts';
import type { AgentSpec, SignalHook } from './agent-definition.ts';
import { defineAgent } from './define-agent.ts';

type Spec = AgentSpec<Record<string, never>, Schema | undefined>;

const ID = Type.Object({ id: Type.String() });

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: ID,
  effects: effects.readOnly(),
  execute: ({ id }) => id,
}) as Tool;

const write = (approval?: 'required' | 'not-required' | 'derived'): Tool =>
  defineTool({
    name: 'write',
    description: 'Writes.',
    input: ID,
    effects: effects.writeState(),
    ...(approval === undefined ? {} : { approval }),
    execute: ({ id }) => id,
  }) as Tool;

const pick = clientTool({ name: 'pick', description: 'Picks.', input: ID }) as Tool;

const hook: SignalHook<unknown> = async function* () {
  yield { kind: 'progress', message: 'heard', step: 'signal' };
};

/** The problems of a spec as its error lists them, without what the subject is. */
function problemsOf(spec: unknown): readonly string[] {
  try {
    defineAgent(spec as Spec);
  } catch (error) {
    if (!AgentError.is(error)) throw error;
    expect(error.code).toBe('DEFINITION_INVALID');
    expect(error.mend).toBe('Correct each line above; nothing was defined.');
    return error.message.split('\n').slice(1);
  }
  return [];
}

test('gives an agent its defaults: stateless, balanced, bounded', () => {
  const agent = defineAgent({ name: 'plain' });
  const { catalogue, fingerprint, ...rest } = agent;
  expect(rest).toEqual({
    name: 'plain',
    metadata: {},
    needs: {},
    dependencies: {},
    tools: [],
    toolSources: [],
    durable: false,
    recovery: 'none',
    approvals: { onExpiry: 'reject', onReject: 'return' },
    admission: 'reject',
    accepts: [],
    signals: {},
    streamingExposure: 'balanced',
    limits: { maxSteps: 8, maxToolCalls: 32, maxOutputRetries: 2 },
  });
  expect(catalogue.names).toEqual([]);
  expect(fingerprint).toMatch(/^[0-9a-f]{32}$/);
});

test('keeps every field that it is given, frozen', () => {
  const Files = definePort<string>('files');
  const execute = (): string => 'done';
  const spec = {
    name: 'whole',
    objective: 'Do it all.',
    description: 'A longer text.',
    metadata: { team: 'blue' },
    needs: { files: Files },
    dependencies: { now: 1 },
    instructions: 'Be brief.',
    tools: [write(), look],
    output: Type.Object({ answer: Type.String() }),
    recovery: 'action-boundary',
    accepts: ['cancel', 'cancel', 'user-message'],
    streamingExposure: 'balanced',
    limits: { maxSteps: 3, maxTokens: 10, timeoutMs: 5, maxOutputRetries: 0 },
  } as const;
  const agent = defineAgent({ ...spec, execute });
  expect(agent).toMatchObject({
    name: 'whole',
    objective: 'Do it all.',
    description: 'A longer text.',
    metadata: { team: 'blue' },
    needs: { files: Files },
    dependencies: { now: 1 },
    instructions: 'Be brief.',
    durable: true,
    recovery: 'action-boundary',
    accepts: ['cancel', 'user-message'],
    limits: { maxSteps: 3, maxToolCalls: 32, maxTokens: 10, timeoutMs: 5, maxOutputRetries: 0 },
    execute,
  });
  expect(agent.tools.map(({ name }) => name)).toEqual(['look', 'write']);
  expect(agent.output?.check({ answer: 'yes' })).toEqual({ ok: true, value: { answer: 'yes' } });
  for (const value of [
    agent,
    agent.metadata,
    agent.needs,
    agent.limits,
    agent.approvals,
    agent.accepts,
    agent.signals,
  ])
    expect(Object.isFrozen(value)).toBe(true);
});

test('binds sampling and tool sources to an agent with the loop of the framework', () => {
  const sampling = { temperature: 0, topP: 1, maxTokens: 1 };
  const agent = defineAgent({ name: 'sampler', sampling, toolSources: ['mcp'] });
  expect(agent.sampling).toEqual(sampling);
  expect(agent.toolSources).toEqual(['mcp']);
});

test('is durable by its recovery, by any accepted signal, or by a hook', () => {
  expect(defineAgent({ name: 'a', recovery: 'action-boundary' }).durable).toBe(true);
  expect(defineAgent({ name: 'a', accepts: ['cancel'] }).durable).toBe(true);
  const hooked = defineAgent({ name: 'a', signals: { 'user-message': hook } });
  expect([hooked.durable, hooked.accepts]).toEqual([true, ['user-message']]);
  expect(defineAgent({ name: 'a', recovery: 'none', accepts: [] }).durable).toBe(false);
});

test('takes a field that is undefined as left out', () => {
  const spec = {
    name: 'a',
    compaction: undefined,
    limits: { maxSteps: undefined },
    signals: { 'user-message': undefined },
  };
  const agent = defineAgent(spec as unknown as Spec);
  expect(agent.limits.maxSteps).toBe(8);
  expect([agent.durable, agent.signals]).toEqual([false, {}]);
});

test('changes its fingerprint with its tools and its output, and with nothing else', () => {
  const prints = (spec: Partial<Spec>): string =>
    defineAgent({ name: 'a', ...spec } as Spec).fingerprint;
  const one = prints({ tools: [look] });
  expect(prints({ tools: [look] })).toBe(one);
  expect(
    prints({ name: 'b', tools: [look], instructions: 'Other.', limits: { maxSteps: 2 } }),
  ).toBe(one);
  expect(prints({ tools: [look, write('not-required')] })).toBe(
    prints({ tools: [write('not-required'), look] }),
  );
  const changed = [
    prints({}),
    prints({ tools: [write('not-required')] }),
    prints({ tools: [look], output: Type.String() }),
    prints({ tools: [look], output: Type.Number() }),
  ];
  expect(new Set([one, ...changed]).size).toBe(5);
});

test('names the agent, the field, what was seen and the mend, every problem at once', () => {
  const spec = {
    name: '',
    objective: ' ',
    description: 3,
    instructions: '',
    metadata: { size: 3, 'hexagent.run': 'x' },
    recovery: 'always',
    streamingExposure: 'loud',
    limits: { maxSteps: 0, maxOutputRetries: -1, timeoutMs: 1.5, maxTokens: '5', speed: 3 },
    sampling: { temperature: -1, topP: 2, maxTokens: 0, seed: 1 },
    accepts: ['shout'],
    tools: [look, look, {}],
    approvals: { onReject: 'never' },
    toolSources: ['', 'mcp', 'mcp', 7],
    output: { type: 'tuple' },
    colour: 'red',
  };
  expect(problemsOf(spec)).toEqual([
    expect.stringMatching(
      /^ {2}- defineAgent\(""\)\.colour: is not a field of an agent\. Known fields: name, /,
    ),
    '  - defineAgent("").name: is "". Use 1 to 128 letters, digits, ".", "_" or "-", beginning with a letter or digit.',
    '  - defineAgent("").objective: is " ". Write a text that is not blank, or leave it out.',
    '  - defineAgent("").description: is 3. Write a text that is not blank, or leave it out.',
    '  - defineAgent("").instructions: is "". Write a text that is not blank, or a function that gives one.',
    '  - defineAgent("").metadata.size: is 3. Metadata is text to text.',
    '  - defineAgent("").metadata.hexagent.run: is a key of the framework. Choose a key without "hexagent.".',
    '  - defineAgent("").recovery: is "always". Choose one of: none, action-boundary.',
    '  - defineAgent("").streamingExposure: is "loud". Choose one of: low-latency, balanced, strict, no-stream-until-final-guarded.',
    '  - defineAgent("").limits.maxSteps: is 0. Use a whole number of at least 1.',
    '  - defineAgent("").limits.maxOutputRetries: is -1. Use a whole number of at least 0.',
    '  - defineAgent("").limits.timeoutMs: is 1.5. Use a whole number of at least 1.',
    '  - defineAgent("").limits.maxTokens: is "5". Use a whole number of at least 1.',
    '  - defineAgent("").limits.speed: is not known. Known here: maxSteps, maxToolCalls, maxTokens, timeoutMs, maxOutputRetries, maxCost.',
    '  - defineAgent("").sampling.temperature: is -1. Use a number of at least 0.',
    '  - defineAgent("").sampling.topP: is 2. Use a number above 0, at most 1.',
    '  - defineAgent("").sampling.maxTokens: is 0. Use a whole number of at least 1.',
    '  - defineAgent("").sampling.seed: is not known. Known here: temperature, topP, maxTokens.',
    expect.stringMatching(/accepts\[0\]: is "shout"\. Choose from: user-message, /),
    '  - defineAgent("").toolSources[0]: is "". Name a tool source by its id.',
    '  - defineAgent("").toolSources[2]: names "mcp" a second time. Name each source once.',
    '  - defineAgent("").toolSources[3]: is 7. Name a tool source by its id.',
    '  - defineAgent("").approvals.onReject: is "never". Choose one of: return, fail.',
    '  - defineAgent("").tools[1]: is a second tool named "look". Give each tool a name of its own, or leave one out.',
    '  - defineAgent("").tools[2]: is not a tool. Make it with defineTool or clientTool.',
    expect.stringMatching(/defineAgent\(""\)\.output/),
  ]);
});

test.each([undefined, null, 'assistant', [], () => 'x', 3n, Symbol('s')])(
  'refuses what is no spec: %s',
  (spec) => {
    expect(problemsOf(spec)).toEqual([
      expect.stringMatching(
        /^ {2}- defineAgent: was called with .+\. Pass one object: defineAgent\(\{ name, … \}\)\.$/,
      ),
    ]);
  },
);

test('refuses fields of another type than theirs, and still names all of them', () => {
  const spec = {
    name: 'a',
    metadata: 'x',
    needs: [],
    dependencies: 3,
    tools: look,
    toolSources: 'mcp',
    accepts: 'cancel',
    signals: [],
    limits: 8,
    sampling: 'hot',
    instructions: 5,
    execute: 'loop',
    output: null,
  };
  const problems = problemsOf(spec);
  for (const field of Object.keys(spec).filter((key) => key !== 'name'))
    expect(problems.some((line) => line.startsWith(`  - defineAgent("a").${field}`))).toBe(true);
});

test('refuses a need that is no port', () => {
  expect(problemsOf({ name: 'a', needs: { files: 'files', shell: {} } })).toEqual([
    '  - defineAgent("a").needs.files: is "files". Name a port: definePort<T>("…").',
    '  - defineAgent("a").needs.shell: is {}. Name a port: definePort<T>("…").',
  ]);
});

test.each(['compaction', 'teammates', 'delegationAllowed', 'context', 'refreshContextEachStep'])(
  'refuses %s until it has a behaviour',
  (field) => {
    expect(problemsOf({ name: 'a', [field]: {} })).toEqual([
      expect.stringMatching(
        new RegExp(
          `^ {2}- defineAgent\\("a"\\)\\.${field}: has no behaviour yet\\. .+ until then\\.$`,
        ),
      ),
    ]);
  },
);

test('does not take an inherited name for a later field or a limit', () => {
  expect(problemsOf({ name: 'a', toString: 1, limits: { valueOf: 1 } })).toEqual([
    expect.stringContaining('toString: is not a field of an agent.'),
    expect.stringContaining('limits.valueOf: is not known.'),
  ]);
});

test('refuses any other exposure until it has a behaviour', () => {
  expect(problemsOf({ name: 'a', streamingExposure: 'strict' })).toEqual([
    expect.stringContaining('streamingExposure: "strict" has no behaviour yet.'),
  ]);
});

test.each([
  1,
  '0.50',
  { amount: 0.5, currency: 'USD' },
  { amount: '0', currency: 'USD' },
  { amount: '1e3', currency: 'USD' },
  { amount: '0.50', currency: ' ' },
  { amount: '0.50' },
  { amount: '0.50', currency: 'USD', each: 'run' },
])('refuses %j as a limit of cost', (maxCost) => {
  expect(problemsOf({ name: 'a', limits: { maxCost } })).toEqual([
    expect.stringContaining(
      "Give an amount above 0 and its currency: { amount: '0.50', currency: 'USD' }.",
    ),
  ]);
});

test('takes a limit of cost, caching and what may be selected, and keeps them as they are', () => {
  const limits = { maxCost: { amount: '0.50', currency: 'USD' } };
  const selection = [{ provider: 'p', model: 'm' }, { profile: 'fast' }];
  const agent = defineAgent({ name: 'a', limits, promptCache: '1h', selection });
  expect(agent.limits.maxCost).toEqual(limits.maxCost);
  expect([agent.promptCache, agent.selection]).toEqual(['1h', selection]);
  const closed = defineAgent({ name: 'a', promptCache: false, selection: false });
  expect([closed.promptCache, closed.selection]).toEqual([false, false]);
});

test('refuses caching for any other time, and what is no list of selections', () => {
  expect(
    problemsOf({ name: 'a', promptCache: '10m', selection: [{}, { model: '' }, 'm', { size: 1 }] }),
  ).toEqual([
    '  - defineAgent("a").promptCache: is "10m". Choose one of: false, "5m", "1h".',
    '  - defineAgent("a").selection[0]: selects nothing. Name a provider, a model or a profile.',
    '  - defineAgent("a").selection[1].model: is "". Name it with a text, or leave it out.',
    '  - defineAgent("a").selection[2]: is "m". Send an object of names.',
    '  - defineAgent("a").selection[3].size: is not known. Known here: provider, model, profile.',
  ]);
  expect(problemsOf({ name: 'a', selection: [() => 1] })).toEqual([
    expect.stringContaining('selection[0]: is a value of type function.'),
  ]);
  expect(problemsOf({ name: 'a', selection: true })).toEqual([
    '  - defineAgent("a").selection: is true. Say false, or list selections.',
  ]);
});

test('takes hooks for every kind but those that have steps of their own', () => {
  const signals = {
    cancel: hook,
    'approval-decision': hook,
    shout: hook,
    pause: hook,
    'external-event': hook,
    'follow-up': hook,
    'user-message': 'hello',
    'steering-instruction': async () => undefined,
  };
  expect(
    problemsOf({ name: 'a', accepts: ['user-message', 'steering-instruction'], signals }),
  ).toEqual([
    expect.stringContaining('signals["cancel"]: is handled by the framework.'),
    expect.stringContaining('signals["approval-decision"]: is handled by the framework.'),
    expect.stringContaining('signals["shout"]: is not a kind of signal.'),
    expect.stringContaining(
      'signals["pause"]: is a hook for a kind that the agent does not accept.',
    ),
    expect.stringContaining('signals["external-event"]: is a hook for a kind'),
    '  - defineAgent("a").signals["follow-up"]: is a hook for a kind that the agent does not accept. Add "follow-up" to accepts, or remove the hook.',
    '  - defineAgent("a").signals["user-message"]: is "hello". Write `async function* (signal, context) { … }`.',
    '  - defineAgent("a").signals["steering-instruction"]: is not an async generator function. Write `async function* (signal, context) { … }`.',
  ]);
  const hookable = {
    'user-message': hook,
    'steering-instruction': hook,
    'follow-up': hook,
    pause: hook,
    resume: hook,
    'external-event': hook,
    'scheduler-wake-up': hook,
  };
  expect(problemsOf({ name: 'a', signals: hookable })).toEqual([]);
});

test('refuses what its own execute would leave unused', () => {
  const execute = (): string => 'done';
  const unused = {
    signals: { 'user-message': hook },
    toolSources: ['mcp'],
    sampling: { topP: 0.5 },
  };
  expect(problemsOf({ name: 'a', execute, ...unused })).toEqual([
    expect.stringContaining('signals: are never called when the agent has its own execute.'),
    expect.stringContaining('toolSources: is not bound when the agent has its own execute.'),
    expect.stringContaining('sampling: is not bound when the agent has its own execute.'),
  ]);
  expect(problemsOf({ name: 'a', execute, signals: {} })).toEqual([]);
});

test('refuses a stateless agent with a tool that may have to wait', () => {
  expect(problemsOf({ name: 'a', tools: [write(), pick, look] })).toEqual([
    expect.stringMatching(
      /tools "write": may need approval \(risk: .+; approval: derived\), so the run must wait, and this agent is stateless\. .+ Or say approval: "not-required"/,
    ),
    expect.stringMatching(/tools "pick": is run by the client, so the run must wait/),
  ]);
  const asking = defineTool({
    name: 'asking',
    description: 'Asks.',
    input: ID,
    effects: { access: 'none', externality: 'local', destructive: false, network: false },
    approval: 'required',
    execute: () => 'x',
  }) as Tool;
  expect(problemsOf({ name: 'a', tools: [asking] })).toEqual([
    expect.stringMatching(/tools "asking": may need approval \(risk: .+; approval: required\)/),
  ]);
  expect(problemsOf({ name: 'a', tools: [write('not-required')] })).toEqual([]);
  expect(problemsOf({ name: 'a', tools: [write(), pick], accepts: ['cancel'] })).toEqual([]);
  expect(problemsOf({ name: 'a', tools: [write()], recovery: 'action-boundary' })).toEqual([]);
});

test('refuses tools that are none, once each', () => {
  expect(problemsOf({ name: 'a', tools: [null, undefined, 'look', { definition: 3 }] })).toEqual(
    [0, 1, 2, 3].map((index) => expect.stringContaining(`tools[${index}]: is not a tool.`)),
  );
});

test('refuses a name that cannot stand in a route or a file', () => {
  for (const name of [undefined, 3, ' a', '-a', 'a b', 'a/b', 'x'.repeat(129)])
    expect(problemsOf({ name })).toHaveLength(1);
  for (const name of ['a', '0', 'code-assistant', 'team.agent_1', 'x'.repeat(128)])
    expect(problemsOf({ name })).toEqual([]);
});
