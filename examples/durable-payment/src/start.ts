import { type Reply, type Served, serveModel } from '@hexagent/example-scripted-server';

/** Plays a model that takes the payment it was asked for, then answers with the receipt. */
function cashier({ messages, tools }: Served): Reply {
  const last = messages.at(-1);
  const receipt = String(last?.content).match(/receipt-\w+/)?.[0];
  if (receipt !== undefined) return { text: JSON.stringify({ receipt }) };
  const euros = Number(String(last?.content).match(/\d+/)?.[0] ?? 0);
  return { calls: [{ name: tools[0] ?? '', input: { cents: euros * 100 } }] };
}

if (process.env.HEXAGENT_MODEL_URL) {
  console.log(`Model: the one at ${process.env.HEXAGENT_MODEL_URL}`);
  await import('./durable-payment.ts');
} else {
  console.log('Model: scripted (set HEXAGENT_MODEL_URL to use a real one)');
  const model = await serveModel(cashier);
  process.env.HEXAGENT_MODEL_URL = model.url;
  await import('./durable-payment.ts');
  await model.close();
}
