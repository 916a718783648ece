import { expect, test } from 'vitest';
import { effects } from './effects.ts';

test('offers the presets of the contract', () => {
  expect(effects.readOnly()).toEqual({
    access: 'read',
    externality: 'local',
    destructive: false,
    network: false,
  });
  expect(effects.writeState()).toEqual({
    access: 'write',
    externality: 'local',
    destructive: false,
    network: false,
  });
  expect(effects.externalSideEffect()).toEqual({
    access: 'read-write',
    externality: 'external',
    destructive: false,
    network: true,
  });
  expect(effects.destructiveAction()).toEqual({
    access: 'write',
    externality: 'external',
    destructive: true,
    network: true,
  });
});
