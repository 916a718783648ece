// A loopback chat-completions server that costs next to nothing: every answer is one prepared buffer,
// each event an HTTP chunk of its own, as model servers flush them.
import { createServer } from 'node:net';

const BASE = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1, model: 'bench' };
const chunk = (delta, finish = null) => ({
  ...BASE,
  choices: [{ index: 0, delta, finish_reason: finish }],
});

function answer(deltas) {
  const events = [
    chunk({ role: 'assistant', content: '' }),
    ...Array.from({ length: deltas }, (_, index) => chunk({ content: `word${index} ` })),
    chunk({}, 'stop'),
    {
      ...BASE,
      choices: [],
      usage: { prompt_tokens: 9, completion_tokens: deltas, total_tokens: 9 + deltas },
    },
  ].map((event) => `data: ${JSON.stringify(event)}\n\n`);
  const pieces = [...events, 'data: [DONE]\n\n'].map(
    (event) => `${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`,
  );
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n${pieces.join('')}0\r\n\r\n`,
  );
}

const answers = { one: answer(1), many: answer(2000) };

const server = createServer((socket) => {
  let text = '';
  socket.setNoDelay(true).setEncoding('latin1');
  socket.on('error', () => undefined);
  socket.on('data', (piece) => {
    text += piece;
    for (;;) {
      const head = text.indexOf('\r\n\r\n');
      if (head === -1) return;
      const length = Number(/content-length: (\d+)/i.exec(text.slice(0, head))?.[1] ?? 0);
      if (text.length < head + 4 + length) return;
      const isMany = text.slice(0, head + 4 + length).includes('"model":"many"');
      text = text.slice(head + 4 + length);
      socket.write(isMany ? answers.many : answers.one);
    }
  });
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
