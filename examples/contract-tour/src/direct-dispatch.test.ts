import { expect, test } from 'vitest';
import { dispatchByHand } from './direct-dispatch.ts';

const customers = { nameOf: async (email: string) => `the one at ${email}` };

test('runs the tool that the model named', async () => {
  const outcome = await dispatchByHand(
    { name: 'customer.lookup', arguments: '{"email":"ada@example.org","apiToken":"t"}' },
    customers,
  );
  expect(outcome).toEqual({ kind: 'ok', value: { name: 'the one at ada@example.org' } });
});

test('refuses a tool that there is not, and arguments that do not fit', async () => {
  await expect(
    dispatchByHand({ name: 'customer.delete', arguments: {} }, customers),
  ).rejects.toThrow(expect.objectContaining({ code: 'TOOL_UNKNOWN' }));
  await expect(
    dispatchByHand({ name: 'customer.lookup', arguments: { email: 1 } }, customers),
  ).rejects.toThrow(expect.objectContaining({ code: 'TOOL_INPUT_INVALID' }));
});
