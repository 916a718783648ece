// Which transport costs least: `node bench/transport.mjs`, after a build. The server is a process of
// its own; every number is the median of the rounds, in which the readers take turns.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { vllmModel } from '@hexagent/agent-vllm';

const ROUNDS = Number(process.env.ROUNDS ?? 15);
const WORK = {
  one: { runs: 100, deltas: 1 },
  many: { runs: 5, deltas: 2000 },
};

const child = fork(new URL('./server.mjs', import.meta.url));
const [{ port }] = await once(child, 'message');
const baseUrl = `http://127.0.0.1:${port}/v1`;
const url = `${baseUrl}/chat/completions`;
const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
const bodyOf = (model) =>
  JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'Hello' }] });

/** The least that reads a stream: frames, JSON, one call a delta. */
function lines(sink) {
  let rest = '';
  return (piece) => {
    rest += piece;
    let from = 0;
    for (let end = rest.indexOf('\n\n'); end !== -1; end = rest.indexOf('\n\n', from)) {
      const data = rest.slice(from + 6, end);
      from = end + 2;
      if (data === '[DONE]') continue;
      const text = JSON.parse(data).choices[0]?.delta.content;
      if (text) sink(text);
    }
    rest = rest.slice(from);
  };
}

const agent = new Agent({ keepAlive: true });
const bareHttp = async (model, sink) => {
  const response = await new Promise((resolve, reject) => {
    const body = bodyOf(model);
    const length = { 'content-length': Buffer.byteLength(body) };
    const sent = request(
      url,
      { agent, method: 'POST', headers: { ...headers, ...length } },
      resolve,
    );
    sent.on('error', reject).end(body);
  });
  const read = lines(sink);
  for await (const piece of response.setEncoding('utf8')) read(piece);
};

const bareFetch = async (model, sink) => {
  const response = await fetch(url, { method: 'POST', headers, body: bodyOf(model) });
  const decoder = new TextDecoder();
  const read = lines(sink);
  for await (const piece of response.body) read(decoder.decode(piece, { stream: true }));
};

const adapter = (options) => {
  const model = vllmModel({ baseUrl, ...options });
  const { signal } = new AbortController();
  const messages = [{ role: 'user', parts: [{ type: 'text', text: 'Hello' }], origin: 'user' }];
  return async (name, sink) => {
    const selection = { model: name };
    const asked = { messages, tools: [], toolChoice: 'auto', requestId: 'bench', selection };
    for await (const batch of model.stream(asked, { signal })) {
      for (const event of batch) if (event.type === 'text') sink(event.text);
    }
  };
};

const readers = {
  'node:http, bare loop': bareHttp,
  'global fetch, bare loop': bareFetch,
  'agent-vllm, node:http': adapter({}),
  'agent-vllm, global fetch': adapter({ fetch: globalThis.fetch }),
};

async function measure(read, name) {
  const { runs, deltas } = WORK[name];
  let seen = 0;
  const cpu = process.cpuUsage();
  const from = performance.now();
  for (let run = 0; run < runs; run += 1) {
    await read(name, () => {
      seen += 1;
    });
  }
  const wall = ((performance.now() - from) * 1000) / runs;
  const { user, system } = process.cpuUsage(cpu);
  if (seen !== runs * deltas) throw new Error(`${seen} deltas instead of ${runs * deltas}`);
  return { wall, cpu: (user + system) / runs };
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

const samples = Object.fromEntries(
  Object.keys(readers).map((reader) => [reader, { one: [], many: [] }]),
);
for (let round = 0; round < ROUNDS + 3; round += 1) {
  for (const [reader, read] of Object.entries(readers)) {
    for (const name of Object.keys(WORK)) {
      const sample = await measure(read, name);
      // The first rounds warm up.
      if (round >= 3) samples[reader][name].push(sample);
    }
  }
}

const rows = Object.entries(samples).map(([reader, byName]) => {
  const pick = (name, field) => median(byName[name].map((sample) => sample[field]));
  return {
    reader,
    one: pick('one', 'wall'),
    oneCpu: pick('one', 'cpu'),
    many: pick('many', 'cpu'),
  };
});
const [bare] = rows;
console.log(`Node ${process.version}, ${ROUNDS} rounds, medians; ratios to the first row\n`);
console.log('| reader | request, wall µs | request, CPU µs | CPU µs per delta of 2,000 |');
console.log('|---|---|---|---|');
for (const { reader, one, oneCpu, many } of rows) {
  const cell = (value, base, digits) => `${value.toFixed(digits)} (${(value / base).toFixed(2)}×)`;
  console.log(
    `| ${reader} | ${cell(one, bare.one, 0)} | ${cell(oneCpu, bare.oneCpu, 0)} | ${cell(many / 2000, bare.many / 2000, 2)} |`,
  );
}
child.kill();
process.exit(0);
