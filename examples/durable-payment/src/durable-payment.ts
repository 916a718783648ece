import { bind, bootstrap, defineAgent, defineTool, effects } from '@hexagent/agent-core';
import { kyselyStore } from '@hexagent/agent-kysely';
import { vllm } from '@hexagent/agent-vllm';
import { Type } from 'typebox';
import { filePayments } from './file-payments.ts';
import { Payments } from './payments.ts';

const charge = defineTool({
  name: 'payments.charge',
  description: 'Charge the customer.',
  input: Type.Object({ cents: Type.Integer({ minimum: 1 }) }),
  needs: { payments: Payments }, // types `tool.deps`; bootstrap checks it is provided
  effects: effects.externalSideEffect(), // so: asks a human, and is never repeated blindly
  execute: ({ cents }, tool) =>
    tool.deps.payments.charge(cents, tool.call.idempotencyKey, tool.signal),
  reconcile: async (_input, tool) => {
    const found = await tool.deps.payments.find(tool.call.idempotencyKey);
    return found ? { kind: 'committed', result: found } : { kind: 'not-started' };
  },
});

const cashier = defineAgent({
  name: 'cashier',
  recovery: 'action-boundary',
  instructions: 'Take the payment, then give the receipt number.',
  tools: [charge],
  output: Type.Object({ receipt: Type.String() }),
});

const baseUrl = process.env.HEXAGENT_MODEL_URL ?? 'http://127.0.0.1:8000/v1';
const app = await bootstrap({
  plugins: [vllm({ baseUrl }), kyselyStore({ url: process.env.SHOP_STORE ?? 'file:shop.db' })],
  provide: [bind(Payments, filePayments(process.env.SHOP_BOOKS ?? 'shop-books'))],
  agents: [cashier],
});
let result = await app.run(cashier, { message: 'Charge 12 euros.', conversationId: 'order-17' });
if (result.kind === 'paused') {
  // In real life: another process, tomorrow.
  for (const wait of result.waits) {
    console.log(`Asked: ${JSON.stringify(wait.prompt)}`);
    await app.runs.resolve(wait.id, { decision: 'approve' }, app.local('operator'));
  }
  result = await (await app.attach(cashier, result.runId)).result;
}
if (result.kind === 'completed')
  console.log(result.output.receipt); // typed: string
else console.error(result);
await app.close();
