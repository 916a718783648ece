import { bind, bootstrap, CONTEXT_EXPOSURE, inputSchemaFor } from '@hexagent/agent-core';
import { callTool, scriptedModel } from '@hexagent/agent-core/testing';
import { expect, test } from 'vitest';
import {
  type Customers,
  Customers as CustomersPort,
  lookUpCustomer,
  supportAgent,
} from './customer-lookup.ts';

const EMAIL = 'ada@example.org';
const TOKEN = 'tok-1815-very-secret';

function customers(): Customers & { readonly asked: (readonly string[])[] } {
  const asked: (readonly string[])[] = [];
  return {
    asked,
    nameOf: async (email, apiToken) => {
      asked.push([email, apiToken]);
      return 'Ada';
    },
  };
}

test('the model-facing schema has no marker, a copy under a policy has', () => {
  const { inputSchema } = lookUpCustomer.definition;
  expect(JSON.stringify(inputSchema)).not.toContain('sensitive');
  expect(inputSchemaFor(lookUpCustomer)).toBe(inputSchema);
  const copy = inputSchemaFor(lookUpCustomer, {
    ...CONTEXT_EXPOSURE,
    includeSensitiveSchemaMetadata: true,
  });
  expect(copy).toMatchObject({
    properties: {
      email: { 'x-hexagent-sensitive': [{ category: 'email' }] },
      apiToken: { 'x-hexagent-sensitive': [{ kind: 'secret' }] },
    },
  });
});

test('the tool gets the exact values', async () => {
  const deps = { customers: customers() };
  const { value } = await callTool(lookUpCustomer, { email: EMAIL, apiToken: TOKEN }, { deps });
  expect(value).toEqual({ name: 'Ada' });
  expect(deps.customers.asked).toEqual([[EMAIL, TOKEN]]);
});

test('no event of a run shows a marked value', async () => {
  const model = scriptedModel([
    { calls: [{ name: 'customer.lookup', input: { email: EMAIL, apiToken: TOKEN } }] },
    { text: 'It is Ada.' },
  ]);
  const found = customers();
  const app = await bootstrap({
    plugins: [model],
    provide: [bind(CustomersPort, found)],
    agents: [supportAgent],
  });
  const run = await app.start(supportAgent, 'Who is it?');
  const events = [];
  for await (const envelope of run.events()) events.push(envelope);
  expect(found.asked).toEqual([[EMAIL, TOKEN]]);
  const shown = JSON.stringify(events);
  expect(shown).not.toContain(TOKEN);
  expect(shown).not.toContain(EMAIL);
  expect(shown).toContain('It is Ada.');
  await app.close();
});
