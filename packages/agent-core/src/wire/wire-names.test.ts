import { expect, test } from 'vitest';
import { type WireNames, wireName, wireNames } from './wire-names.ts';

function mapped(names: readonly string[]): WireNames {
  const result = wireNames(names);
  if ('problems' in result) throw new Error(JSON.stringify(result.problems));
  return result;
}

const LONG = `workspace.${'very.'.repeat(20)}long`;

test('goes out in letters that servers accept, and comes back', () => {
  const names = ['workspace.read', 'git_status', 'shell/command', 'größe', LONG];
  const { toWire, toName } = mapped(names);
  for (const name of names) {
    expect(toWire(name)).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(toName(toWire(name))).toBe(name);
  }
  expect(toWire('workspace.read')).toBe('workspace_read');
  expect(toWire('git_status')).toBe('git_status');
});

test('does not depend on the order, nor on the tools beside it', () => {
  const names = ['a.b', 'c.d', LONG];
  const there = mapped(names);
  const back = mapped([...names].reverse());
  for (const name of names) {
    expect(back.toWire(name)).toBe(there.toWire(name));
    expect(mapped([name]).toWire(name)).toBe(there.toWire(name));
  }
});

test('two long names with one beginning stay apart', () => {
  expect(wireName(`${LONG}.one`)).not.toBe(wireName(`${LONG}.two`));
  expect(wireName('x'.repeat(64))).toBe('x'.repeat(64));
});

test('a name that was not mapped gets what it would have got; a made-up one comes back as it is', () => {
  const { toWire, toName } = mapped(['a.b']);
  expect(toWire('earlier.tool')).toBe('earlier_tool');
  expect(toName('made_up')).toBe('made_up');
});

test('reports every name that cannot be used', () => {
  const result = wireNames(['workspace.read', 'workspace_read', 'a', 'a', '']);
  expect(result).toEqual({
    problems: [
      {
        at: 'tool "workspace_read"',
        seen: 'On the wire it is "workspace_read", as "workspace.read" is.',
        mend: 'Rename one of the two.',
      },
      { at: 'tool "a"', seen: 'The name is there twice.', mend: 'Rename one of the two.' },
      { at: 'tool ""', seen: 'The name is empty.', mend: 'Give it a name.' },
    ],
  });
});
