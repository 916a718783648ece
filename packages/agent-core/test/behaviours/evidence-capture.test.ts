import { Type } from 'typebox';
import { expect, test } from 'vitest';
import {
  clientTool,
  defineAgent,
  defineTool,
  EVIDENCE_CAPTURES,
  type EvidenceCapture,
  effects,
  type JsonObject,
  sensitive,
} from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import { answer, appOf, calls, evidenceOf } from './harness.ts';

const RESULT = { name: 'Ann', email: 'ann@example.com' };

const tool = (evidence: EvidenceCapture, name: string = RESULT.name) =>
  defineTool({
    name: 'find',
    description: 'Finds.',
    input: Type.Object({ id: Type.String() }),
    output: Type.Object({
      name: Type.String(),
      email: sensitive(Type.String(), { category: 'email' }),
    }),
    effects: effects.readOnly(),
    evidence,
    execute: () => ({ ...RESULT, name }),
  });

async function kept(evidence: EvidenceCapture, name?: string): Promise<JsonObject> {
  const agent = defineAgent({
    name: 'crm',
    recovery: 'action-boundary',
    tools: [tool(evidence, name)],
  });
  const app = await appOf(agent, [calls(['find', 'a']), { text: 'Done.' }], {
    store: memoryStore(),
  });
  const { runId } = await app.run(agent, 'go');
  const rows = await evidenceOf(app, runId);
  return rows.find(({ kind }) => kind === 'tool')?.payload as JsonObject;
}

const reference = {
  characters: expect.any(Number),
  digest: expect.stringMatching(/^[0-9a-f]{64}$/),
};
const summary = { ...reference, type: 'object', members: ['name', 'email'] };
const masked = { name: 'Ann', email: expect.not.stringContaining('ann@') };

test.each<readonly [EvidenceCapture, object]>([
  ['none', {}],
  ['reference-only', reference],
  ['summary', summary],
  ['structured', { result: masked }],
  ['raw', { result: masked }],
  ['redacted', { result: masked }],
])('a tool that says "%s" has exactly that of its result on record', async (capture, what) => {
  const call = {
    callId: expect.any(String),
    toolName: 'find',
    outcome: 'ok',
    stage: 'committed',
    attempt: 1,
  };
  expect(await kept(capture)).toEqual({ ...call, capture, ...what });
});

test('a result that is too large to be kept as it is is kept as a summary, unless it is wanted raw', async () => {
  const long = 'x'.repeat(10_000);
  expect(await kept('structured', long)).toMatchObject({
    degraded: true,
    members: ['name', 'email'],
  });
  expect(await kept('raw', long)).toMatchObject({ result: { name: long } });
});

test('no capture shows a marked value, and none is left out of this test', async () => {
  for (const capture of EVIDENCE_CAPTURES)
    expect(JSON.stringify(await kept(capture))).not.toContain(RESULT.email);
});

test('what a client sends for its tool is on record as having run there', async () => {
  const camera = clientTool({
    name: 'camera',
    description: 'Takes a picture.',
    input: Type.Object({ id: Type.String() }),
  });
  const agent = defineAgent({ name: 'host', recovery: 'action-boundary', tools: [camera] });
  const app = await appOf(agent, [calls(['camera', 'a']), { text: 'Done.' }], {
    store: memoryStore(),
  });
  const run = await app.start(agent, 'go');
  await run.result;
  await answer(app, run.runId, {
    decision: 'result',
    outcome: 'ok',
    content: [{ type: 'text', text: 'a cat' }],
  });
  await (await app.attach(agent, run.runId)).result;
  const rows = await evidenceOf(app, run.runId);
  expect(rows.find(({ kind }) => kind === 'tool')?.payload).toMatchObject({
    toolName: 'camera',
    ran: 'client',
    outcome: 'ok',
    capture: 'none',
  });
});
