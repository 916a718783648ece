import { createServer } from 'node:http';

/** How a tool's name looks on the wire: the core's own mapping keeps letters, digits and `_`. */
const plain = (name) => name.replaceAll(/[^A-Za-z0-9]/g, '');

function chunksOf(step, request, at) {
  const base = { id: `chat-${at}`, object: 'chat.completion.chunk', created: 0, model: 'scripted' };
  const chunk = (delta, finish_reason) => ({
    ...base,
    choices: [{ index: 0, delta, finish_reason }],
  });
  if (step.call !== undefined) {
    const tool = (request.tools ?? []).find(
      ({ function: { name } }) => plain(name) === plain(step.call.name),
    );
    return [
      chunk({
        role: 'assistant',
        tool_calls: [
          {
            index: 0,
            id: `call-${at}`,
            type: 'function',
            function: {
              name: tool?.function.name ?? step.call.name,
              arguments: JSON.stringify(step.call.input ?? {}),
            },
          },
        ],
      }),
      chunk({}, 'tool_calls'),
    ];
  }
  return [
    ...(step.text.match(/\S+\s*/g) ?? []).map((content) => chunk({ role: 'assistant', content })),
    chunk({}, 'stop'),
  ];
}

/**
 * An OpenAI-compatible server on the loopback address that answers the n-th completion with the n-th
 * step (`{ "text": … }` or `{ "call": { name, input } }`), and the last step from then on. Snippets of
 * the docs talk to it as they would to a real server.
 */
export async function scriptedServer(steps) {
  let asked = 0;
  const server = createServer((request, response) => {
    if (request.method === 'GET' && request.url === '/v1/models') {
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          object: 'list',
          data: [{ id: 'scripted', object: 'model', max_model_len: 8192 }],
        }),
      );
      return;
    }
    if (request.method !== 'POST' || request.url !== '/v1/chat/completions') {
      response.writeHead(404).end();
      return;
    }
    let body = '';
    request.setEncoding('utf8').on('data', (text) => {
      body += text;
    });
    request.on('end', () => {
      const parsed = JSON.parse(body);
      const step = steps[Math.min(asked, steps.length - 1)];
      asked += 1;
      const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
      const chunks = chunksOf(step, parsed, asked);
      response.setHeader('content-type', 'text/event-stream');
      for (const chunk of chunks) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
      const { choices: _, ...rest } = chunks[0];
      response.write(`data: ${JSON.stringify({ ...rest, choices: [], usage })}\n\n`);
      response.end('data: [DONE]\n\n');
    });
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    close: () =>
      new Promise((done) => {
        server.close(done);
        server.closeAllConnections();
      }),
  };
}
