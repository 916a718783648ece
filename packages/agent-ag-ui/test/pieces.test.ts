import { AgentError, inputInvalid, waitNotFound } from '@hexagent/agent-core';
import { expect, test } from 'vitest';
import { answerKey, isReplay } from '../src/answers/answer-identity.ts';
import { capabilitiesOf } from '../src/capabilities.ts';
import { problemResponse } from '../src/http/problem.ts';
import { Transcript } from '../src/projection/transcript.ts';
import { clientIdsOf, messageIdsOf, takenIds } from '../src/threads/request.ts';

test('a problem has the one form of errors over HTTP, in the words of the catalogue or of its theme', async () => {
  const headers = { 'x-request-id': 'mine' };
  const request = new Request('http://host/ag-ui/clerk', { headers });
  const told = problemResponse(waitNotFound('w'), { request });
  expect(told.status).toBe(404);
  expect(told.headers.get('content-type')).toBe('application/problem+json');
  expect(await told.json()).toEqual({
    type: 'urn:hexagent:error:WAIT_NOT_FOUND',
    title: 'Wait not found',
    status: 404,
    detail: expect.any(String),
    instance: 'urn:hexagent:request:mine',
    code: 'WAIT_NOT_FOUND',
    mend: expect.any(String),
  });
  const wrong = [{ at: 'a', seen: 'password=1', mend: 'look' }];
  const model = new AgentError('MODEL_FAILED', {
    message: 'password=1',
    mend: 'look',
    problems: wrong,
  });
  expect(await problemResponse(model, { request, status: 599 }).json()).toEqual({
    type: 'urn:hexagent:error:MODEL_FAILED',
    title: 'Model failed',
    status: 599,
    detail: 'The model could not answer.',
    instance: 'urn:hexagent:request:mine',
    code: 'MODEL_FAILED',
    mend: expect.stringContaining('whoever runs the server'),
  });
  const given = inputInvalid('The run input', wrong);
  expect(await problemResponse(given, { request }).json()).toMatchObject({ problems: wrong });
  const bare = await problemResponse(given, { request: new Request('http://host/') }).json();
  expect(bare).not.toHaveProperty('instance');
});

test('metadata of other hands name no messages', () => {
  const run = (metadata: Record<string, string>) => ({ runId: 'r1', metadata }) as never;
  for (const ids of ['{', '7', '{}'])
    expect(messageIdsOf(run({ 'ag-ui.messageIds': ids }))).toEqual([]);
  const runs = [run({}), run({ 'ag-ui.messageIds': '["a",1,"b"]' })];
  expect([...takenIds(runs)]).toEqual(['r1.m1', 'a', 'b']);
  expect([...clientIdsOf(runs)]).toEqual([['r1.m1', 'b']]);
});

test('an answer comes again when it is of the same kind and has no content of its own', () => {
  const wait = (decision?: string) => ({ decision }) as never;
  expect(isReplay(wait('approve'), { decision: 'approve' })).toBe(true);
  expect(isReplay(wait('approve'), { decision: 'reject' })).toBe(false);
  expect(isReplay(wait('approve'), { decision: 'cancel' })).toBe(true);
  expect(isReplay(wait('modify'), { decision: 'modify', input: {} })).toBe(false);
  expect(answerKey({ decision: 'answer', value: { a: 1, b: 2 } })).toBe(
    answerKey({ value: { b: 2, a: 1 }, decision: 'answer' }),
  );
  expect(answerKey({ decision: 'answer', value: 1 })).not.toBe(
    answerKey({ decision: 'answer', value: 2 }),
  );
});

test('an agent without words is described by its name', () => {
  const agent = { name: 'a', durable: false, accepts: [], tools: [] };
  expect(capabilitiesOf(agent).identity).not.toHaveProperty('description');
  expect(capabilitiesOf({ ...agent, objective: 'o' }).identity?.description).toBe('o');
  const durable = { ...agent, durable: true, accepts: ['user-message'] as const };
  expect(capabilitiesOf(durable).humanInTheLoop?.interventions).toBe(true);
});

test('a transcript leaves activities out, and keeps what it is not asked to change', () => {
  const transcript = new Transcript([
    { id: 'x', role: 'activity', activityType: 'a', content: {} },
    { id: 'u', role: 'user', content: 'hi' },
  ]);
  transcript.arguments('unknown', '{}');
  transcript.remove(['nothing']);
  expect(transcript.all()).toEqual([{ id: 'u', role: 'user', content: 'hi' }]);
});
