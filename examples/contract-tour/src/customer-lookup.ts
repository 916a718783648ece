import {
  defineAgent,
  definePort,
  defineTool,
  effects,
  secret,
  sensitive,
} from '@hexagent/agent-core';
import { Type } from 'typebox';

export interface Customers {
  /** The name behind an address. */
  nameOf(email: string, apiToken: string): Promise<string | undefined>;
}
export const Customers = definePort<Customers>('customers');

/** The tool gets the exact values; events, evidence and prompts get them masked; the model's schema says nothing of it. */
export const lookUpCustomer = defineTool({
  name: 'customer.lookup',
  description: 'Find a customer.',
  input: Type.Object({
    email: sensitive(Type.String(), { category: 'email', masking: 'first-last' }),
    apiToken: secret(Type.String()),
  }),
  needs: { customers: Customers },
  effects: effects.readOnly(),
  execute: async ({ email, apiToken }, { deps }) => ({
    name: (await deps.customers.nameOf(email, apiToken)) ?? 'unknown',
  }),
});

export const supportAgent = defineAgent({ name: 'support-agent', tools: [lookUpCustomer] });
