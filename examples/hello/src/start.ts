import { type Reply, type Served, serveModel } from '@hexagent/example-scripted-server';

/** Plays a model that can add: asks the tool for the two numbers it was given, then says the sum. */
function adder({ messages, tools }: Served): Reply {
  const last = messages.at(-1);
  if (last?.role === 'tool') return { text: `The sum is ${last.content}.` };
  const [a = 0, b = 0] = String(last?.content).match(/\d+/g)?.map(Number) ?? [];
  return { calls: [{ name: tools[0] ?? '', input: { a, b } }] };
}

if (process.env.HEXAGENT_MODEL_URL) {
  console.log(`Model: the one at ${process.env.HEXAGENT_MODEL_URL}`);
  await import('./hello.ts');
} else {
  console.log('Model: scripted (set HEXAGENT_MODEL_URL to use a real one)');
  const model = await serveModel(adder);
  process.env.HEXAGENT_MODEL_URL = model.url;
  await import('./hello.ts');
  await model.close();
}
