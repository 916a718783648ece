import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Load, pause, textOf } from './load.ts';
import { obey, type Server } from './served.ts';

/** A reader of one run: what it has been sent, and whether it has to be waited for. */
type Reader = { readonly response: ServerResponse; sent: number; full: boolean };
type Run = { readonly frames: string[]; readonly readers: Set<Reader> };

/** Ids and texts are as long as those of the host: a write costs by its bytes, too. */
const RUN_ID = 'r0123456789abcdefghij';

/** What one writes by hand over `node:http`: every frame is made once, a reader that is full is left out until it drains. */
async function rawServer(load: Load): Promise<Server> {
  const runs = Array.from({ length: load.runs }, (): Run => ({ frames: [], readers: new Set() }));
  const server = createServer((request, response) => {
    const run = runs[Number(request.url?.split('/')[2])];
    if (run === undefined) return response.writeHead(404).end();
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
    });
    response.write(': open\n\n');
    const reader: Reader = { response, sent: 0, full: false };
    run.readers.add(reader);
    response.on('drain', () => {
      reader.full = false;
      send(run, reader);
    });
    response.on('close', () => run.readers.delete(reader));
    const heartbeat = setInterval(() => response.write(': still here\n\n'), 15_000);
    response.on('close', () => clearInterval(heartbeat));
    return undefined;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 4_096, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    urls: runs.map((_run, index) => `http://127.0.0.1:${port}/runs/${index}/events`),
    go: () => {
      for (const run of runs) void play(run, load);
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

async function play(run: Run, { events, paceMs }: Load): Promise<void> {
  const text = Array.from({ length: events }, (_, index) => textOf(index)).join('');
  for (let index = 0; index <= events; index += 1) {
    const event =
      index < events
        ? { type: 'message-delta', messageId: `${RUN_ID}.m2`, delta: textOf(index) }
        : {
            type: 'run-finished',
            outcome: { kind: 'completed', text },
            usage: {},
            summary: { texts: [text] },
          };
    const seq = 2 ** 32 + index + 1;
    const envelope = {
      rootRunId: RUN_ID,
      runId: RUN_ID,
      agent: 'bench',
      stepId: `${RUN_ID}.s1`,
      seq,
      at: Date.now(),
      event,
    };
    run.frames.push(`id: ${seq}\ndata: ${JSON.stringify(envelope)}\n\n`);
    for (const reader of run.readers) send(run, reader);
    await pause(paceMs);
  }
}

function send(run: Run, reader: Reader): void {
  while (!reader.full && reader.sent < run.frames.length) {
    reader.full = !reader.response.write(run.frames[reader.sent]);
    reader.sent += 1;
  }
  if (reader.sent === run.frames.length && run.frames.at(-1)?.includes('"run-finished"') === true)
    reader.response.end();
}

obey(rawServer);
