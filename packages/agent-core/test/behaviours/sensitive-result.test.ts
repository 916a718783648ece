import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { bootstrap, defineAgent, defineTool, effects, sensitive } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';

const EMAIL = 'ada.lovelace@example.com';

const lookup = defineTool({
  name: 'customer.lookup',
  description: 'Finds a customer.',
  input: Type.Object({}),
  output: Type.Object({ email: sensitive(Type.String(), { category: 'email' }) }),
  effects: effects.readOnly(),
  execute: () => ({ email: EMAIL }),
});

test('the result of a handle is masked in the very process that drove the run', async () => {
  const agent = defineAgent({ name: 'desk', tools: [lookup] });
  const steps = [
    { calls: [{ name: 'customer.lookup', input: {} }] },
    { text: `Write to ${EMAIL}.` },
  ];
  const app = await bootstrap({ plugins: [scriptedModel(steps)], agents: [agent] });
  const result = await app.run(agent, 'Whom?');
  expect(result).toMatchObject({ kind: 'completed' });
  expect(JSON.stringify(result)).not.toContain(EMAIL);
  await app.close();
});
