import { expect, test } from 'vitest';
import { bind, definePort } from './port.ts';

test('declares a port by its id, for one value unless it says many', () => {
  expect(definePort('clock')).toEqual({ id: 'clock', arity: 'one' });
  expect(definePort('tool-source', { arity: 'many' })).toEqual({
    id: 'tool-source',
    arity: 'many',
  });
  expect(Object.isFrozen(definePort('clock'))).toBe(true);
});

test('pairs a port with a value', () => {
  const Port = definePort<{ readonly n: number }>('n');
  const value = { n: 1 };
  const binding = bind(Port, value);
  expect(binding.port).toBe(Port);
  expect(binding.value).toBe(value);
  expect(Object.isFrozen(binding)).toBe(true);
});
