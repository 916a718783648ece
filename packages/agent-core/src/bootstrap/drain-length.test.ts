import { expect, test } from 'vitest';
import { scriptedModel } from '../testing/index.ts';
import { bootstrap } from './bootstrap.ts';

test.each([-1, 1.5, 600_001, Number.NaN])(
  'a drain of %d milliseconds is refused',
  async (drainMs) => {
    await expect(
      bootstrap({ plugins: [scriptedModel([])], agents: [], drainMs }),
    ).rejects.toMatchObject({
      code: 'BOOTSTRAP_INVALID',
      message: expect.stringContaining(`drainMs: is ${drainMs}.`),
    });
  },
);

test('a drain of no time at all is one', async () => {
  const app = await bootstrap({ plugins: [scriptedModel([])], agents: [], drainMs: 0 });
  await app.close();
});
