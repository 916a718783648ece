import { describe, expect, test } from 'vitest';
import type { FINISH_REASONS, ModelEvent } from '../model/agent-model.ts';
import { type ToolCallDelta, toolCallAssembler } from './tool-call-assembler.ts';

type Reason = (typeof FINISH_REASONS)[number];

function assemble(deltas: readonly ToolCallDelta[], reason: Reason = 'tool-calls') {
  const events: ModelEvent[] = [];
  const assembler = toolCallAssembler({ toName: (wire) => wire.replace('_', '.') });
  for (const delta of deltas) assembler.accept(delta, events);
  const shown = events.length;
  const end = assembler.finish(reason, events);
  const calls: { id: string | undefined; name: string; text: string }[] = [];
  for (const event of events) {
    if (event.type === 'tool-call-start') {
      expect(event.index).toBe(calls.length);
      calls.push({ id: event.providerCallId, name: event.name, text: '' });
    }
    const call = event.type === 'tool-call-delta' ? calls[event.index] : undefined;
    if (call !== undefined && event.type === 'tool-call-delta') call.text += event.delta;
  }
  return { events, calls, end, held: events.length - shown };
}

test('C31: arguments that were cut never look like a call to run', () => {
  const cut = '{"path":"/etc/hosts","content":"line1';
  for (const said of ['tool-calls', 'stop', 'length'] as const) {
    const { calls, end } = assemble(
      [{ index: 0, id: 'a', name: 'fs_write', arguments: cut }],
      said,
    );
    expect(end).toEqual({ reason: 'length', unnamed: 0 });
    expect(calls).toEqual([{ id: 'a', name: 'fs.write', text: cut }]);
  }
});

describe('C33: streams of vLLM and its like', () => {
  test('two parallel calls with index 0 stay apart by their ids, also when they interleave', () => {
    const { calls } = assemble([
      { index: 0, id: 'a', name: 'f', arguments: '{"x":' },
      { index: 0, id: 'b', name: 'g', arguments: '{"y":' },
      { index: 0, id: 'a', arguments: '1}' },
      { index: 0, id: 'b', arguments: '2}' },
    ]);
    expect(calls).toEqual([
      { id: 'a', name: 'f', text: '{"x":1}' },
      { id: 'b', name: 'g', text: '{"y":2}' },
    ]);
  });

  test('a name that is repeated is not two names', () => {
    const { calls } = assemble([
      { index: 0, id: 'a', name: 'get', arguments: '{"x"' },
      { index: 0, id: 'a', name: 'get', arguments: ':1}' },
    ]);
    expect(calls).toEqual([{ id: 'a', name: 'get', text: '{"x":1}' }]);
  });

  test.each([[''], [null], [undefined], ['null'], ['  '], ['""'], ['"null"']])(
    'the arguments %j are an empty object',
    (text) => {
      const delta = {
        index: 0,
        id: 'a',
        name: 'now',
        ...(text === undefined ? {} : { arguments: text }),
      };
      const { calls, end } = assemble([
        delta,
        { index: 1, id: 'b', name: 'f', arguments: '{"x":1}' },
      ]);
      expect(calls.map((call) => call.text)).toEqual(['{}', '{"x":1}']);
      expect(end.reason).toBe('tool-calls');
    },
  );

  test('whole calls without ids and with one index are one call each', () => {
    const { calls } = assemble([
      { index: 0, name: 'f', arguments: '{"x":1}' },
      { index: 0, name: 'f', arguments: '{"x":2}' },
      { name: 'g', arguments: { y: 3 } },
    ]);
    expect(calls).toEqual([
      { id: undefined, name: 'f', text: '{"x":1}' },
      { id: undefined, name: 'f', text: '{"x":2}' },
      { id: undefined, name: 'g', text: '{"y":3}' },
    ]);
  });

  test('a name that is repeated without an id belongs to arguments that are not complete', () => {
    const { calls } = assemble([
      { index: 0, name: 'f' },
      { index: 0, name: 'f', arguments: '{"x":' },
      { index: 0, name: 'f', arguments: '1}' },
    ]);
    expect(calls).toEqual([{ id: undefined, name: 'f', text: '{"x":1}' }]);
  });
});

test('without an index a piece belongs to its id, else to the last call', () => {
  const { calls } = assemble([
    { id: 'a', name: 'f', arguments: '{"x":' },
    { id: 'b', name: 'g', arguments: '{' },
    { arguments: '}' },
    { id: 'a', arguments: '1}' },
  ]);
  expect(calls.map(({ text }) => text)).toEqual(['{"x":1}', '{}']);
});

test('nulls and empty texts say nothing new', () => {
  const { calls } = assemble([
    { index: 0, id: 'a', name: 'f', arguments: '' },
    { index: 0, id: null, name: null, arguments: '{}' },
    { index: 0, id: '', name: '' },
  ]);
  expect(calls).toEqual([{ id: 'a', name: 'f', text: '{}' }]);
});

test('arguments are shown as they come once they are an object', () => {
  const { events, held } = assemble([
    { index: 0, id: 'a', name: 'f', arguments: ' ' },
    { index: 0, arguments: '{"x"' },
    { index: 0, arguments: ':1}' },
  ]);
  expect(events.slice(1)).toEqual([
    { type: 'tool-call-delta', index: 0, delta: ' {"x"' },
    { type: 'tool-call-delta', index: 0, delta: ':1}' },
  ]);
  expect(held).toBe(0);
});

test('arguments encoded twice are held back and decoded once', () => {
  const twice = JSON.stringify('{"x":1}');
  const { calls, held } = assemble([
    { index: 0, id: 'a', name: 'f', arguments: twice.slice(0, 4) },
    { index: 0, arguments: twice.slice(4) },
  ]);
  expect(calls[0]?.text).toBe('{"x":1}');
  expect(held).toBe(1);
  const text = assemble([{ index: 0, name: 'f', arguments: '"{\\"x\\":"' }]);
  expect(text.end.reason).toBe('length');
});

test('a call whose name comes late is shown from then on, in the order of the names', () => {
  const { calls } = assemble([
    { index: 0, arguments: '{"x":' },
    { index: 1, name: 'g', arguments: '{}' },
    { index: 0, name: 'f', arguments: '1}' },
  ]);
  expect(calls).toEqual([
    { id: undefined, name: 'g', text: '{}' },
    { id: undefined, name: 'f', text: '{"x":1}' },
  ]);
});

test('a call without a name is counted and not shown', () => {
  const { events, end } = assemble([{ index: 0, id: 'a', arguments: '{}' }]);
  expect(events).toEqual([]);
  expect(end).toEqual({ reason: 'stop', unnamed: 1 });
});

test('calls and stop are tool calls; other reasons stay', () => {
  const deltas = [{ index: 0, id: 'a', name: 'f', arguments: '{}' }] as const;
  expect(assemble(deltas, 'stop').end.reason).toBe('tool-calls');
  expect(assemble(deltas, 'content-filter').end.reason).toBe('content-filter');
  expect(assemble(deltas, 'length').end.reason).toBe('length');
  expect(assemble([], 'tool-calls').end.reason).toBe('stop');
});
