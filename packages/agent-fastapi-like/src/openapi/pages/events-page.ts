import { EVENT_CLASSES, isJsonObject, type JsonObject, type JsonValue } from '@hexagent/agent-core';
import { CLOSE_REASONS, SUBPROTOCOL } from '../../websocket/messages.ts';
import { MOST_RUNS } from '../../websocket/watched-runs.ts';
import { EVENT_WORDS } from './event-words.ts';
import { escaped } from './html.ts';
import { pageOf } from './page.ts';
import { type Shapes, shapesOf, variantsOf } from './shapes.ts';
import { CLIENT_EXAMPLES, CLIENT_WORDS, SERVER_EXAMPLES } from './socket-words.ts';

/** How a reader of events works, for people: every event with an example, the frames of the stream, the messages of the socket. */
export function eventsPage(document: JsonObject): string {
  const { title } = document['info'] as { readonly title: string };
  const shapes = shapesOf(document);
  const main = `<h1>Events</h1>
<p class="lead">What a run tells while it works, as server-sent events or over a WebSocket.</p>
${eventSection(shapes)}
${streamSection()}
${socketSection(shapes)}
${shapeSection(shapes)}`;
  return pageOf({
    title: `Events – ${title}`,
    current: 'events',
    root: '../',
    styles: ['page.css', 'events.css'],
    body: `<div class="columns">
${contents(shapes)}
<main>
${main}
</main>
</div>`,
  });
}

function contents(shapes: Shapes): string {
  const entry = (id: string, words: string, inner: readonly string[] = []): string =>
    `<li><a href="#${id}">${words}</a>${inner.length === 0 ? '' : `<ul>${inner.join('')}</ul>`}</li>`;
  const entries = (ids: readonly string[]): readonly string[] => ids.map((id) => entry(id, id));
  return `<nav class="contents" aria-label="On this page"><ul>
${entry('events', 'Every event', entries(Object.keys(EVENT_WORDS)))}
${entry('stream', 'Server-sent events')}
${entry('socket', 'WebSocket', [entry('client', 'of the client'), entry('host', 'of the host'), entry('closed', 'close codes')])}
${entry('shapes', 'Shapes', entries(shapes.named.map(({ name }) => name)))}
</ul></nav>`;
}

function eventSection(shapes: Shapes): string {
  const variants = variantsOf(shapes.schemas['Event']);
  const rows = Object.entries(EVENT_WORDS).map(([type, { when, example }]) =>
    row(shapes, {
      id: type,
      type,
      badge: EVENT_CLASSES[type as keyof typeof EVENT_WORDS],
      when,
      example: { type, ...example },
      schema: variants.get(type),
    }),
  );
  return `<h2 id="events">Every event</h2>
<p>An event comes in an <a href="#Envelope">envelope</a> with its number. The examples show the <code>event</code> inside it.</p>
<dl>
<dt><span class="class committed-first">committed-first</span></dt><dd>Something has happened: stored before anybody sees it.</dd>
<dt><span class="class live">live</span></dt><dd>Something happens in an open step. <code>rewound</code> may take it back.</dd>
<dt><span class="class mark">mark</span></dt><dd>Shown at once; it belongs to no step.</dd>
</dl>
${rowsOf('event', rows)}`;
}

function streamSection(): string {
  const envelope = {
    rootRunId: 'r1',
    runId: 'r1',
    agent: 'assistant',
    stepId: 's1',
    seq: 3,
    at: 1_790_000_000_000,
    event: { type: 'message-delta', ...EVENT_WORDS['message-delta'].example },
  };
  return `<h2 id="stream">Server-sent events</h2>
<p><code>GET /runs/{runId}/events</code>, and a start with <code>Accept: text/event-stream</code>, send one frame an event:
<code>id</code> is its number, <code>data</code> the <a href="#Envelope">envelope</a>.</p>
<pre>: open

id: 3
data: ${escaped(JSON.stringify(envelope))}
</pre>
<p>Comments keep a quiet stream open. After a lost connection go on with <code>Last-Event-ID</code> (an <code>EventSource</code> sends it by
itself) or <code>?after=</code>: every event behind that number comes once. <code>204</code> says that nothing is left to come.</p>
<p><code>event: snapshot</code> brings the run as it is now, a <a href="#Snapshot">snapshot</a>, when the events behind a cursor are no longer
kept: it replaces what the reader has. <code>event: failure</code> is the last frame of a stream that could not go on.</p>`;
}

function socketSection(shapes: Shapes): string {
  const messages = (name: string, examples: Readonly<Record<string, JsonObject>>): string => {
    const rows = [...variantsOf(shapes.schemas[name])].map(([type, schema]) =>
      row(shapes, {
        id: `${name}-${type}`,
        type,
        when: CLIENT_WORDS[type] ?? String(schema['description']),
        example: { v: 1, type, ...examples[type] },
        schema,
      }),
    );
    return rowsOf('message', rows);
  };
  return `<h2 id="socket">WebSocket</h2>
<p><code>WS /agents/{agent}/ws</code>: one JSON message a frame, in both directions. A message of the client may carry an <code>id</code>,
which its answer repeats; messages are taken in their order. One socket starts and watches as many runs as it likes, up to ${MOST_RUNS} at
a time. After a lost connection say <code>watch</code> with the last number as <code>after</code>.</p>
<p>The subprotocol is <code>${SUBPROTOCOL}</code>. Who asks is told like everywhere by <code>Authorization</code>; a page in a browser, which
can set no header, offers the subprotocols <code>${SUBPROTOCOL}</code> and <code>bearer.&lt;token&gt;</code>, or sends
<code>authenticate</code> as its first message. <code>ready</code> says that the caller is known.</p>
<p>The host pings quiet sockets and breaks off those that do not answer. A client that does not read is sent no more until it does.</p>
<h3 id="client">What a client says</h3>
${messages('SocketClientMessage', CLIENT_EXAMPLES)}
<h3 id="host">What the host says</h3>
${messages('SocketServerMessage', SERVER_EXAMPLES)}
<h3 id="closed">Why the host closes a socket</h3>
<table class="closed"><thead><tr><th scope="col">closed with</th><th scope="col">because</th></tr></thead><tbody>
${CLOSE_REASONS.map(([code, why]) => `<tr><td><code>${code}</code></td><td>${marked(why)}</td></tr>`).join('\n')}
</tbody></table>`;
}

function shapeSection({ named, notation }: Shapes): string {
  const told = named.map(
    ({ name, schema, words }) => `<details class="shape" id="${escaped(name)}">
<summary>${escaped(name)}${words === '' ? '' : ` <span>${marked(words)}</span>`}</summary>
<pre>${notation(schema)}</pre>
</details>`,
  );
  return `<h2 id="shapes">Shapes</h2>
<p>In the notation of TypeScript; <a href="../openapi.json">openapi.json</a> has them as JSON Schema.</p>
${told.join('\n')}`;
}

type Row = {
  readonly id: string;
  readonly type: string;
  readonly badge?: string;
  readonly when: string;
  readonly example: JsonObject;
  readonly schema: JsonObject | undefined;
};

function row({ notation }: Shapes, { id, type, badge, when, example, schema }: Row): string {
  const kind = badge === undefined ? '' : ` <span class="class ${badge}">${badge}</span>`;
  const fields = schema === undefined ? {} : schema['properties'];
  // An event of its type alone has nothing to unfold.
  const count = isJsonObject(fields) ? Object.keys(fields).length : 0;
  const shape =
    count < 2 || schema === undefined
      ? ''
      : `<details><summary>Shape</summary><pre>${notation(schema)}</pre></details>`;
  return `<tr id="${escaped(id)}"><td class="name"><a href="#${escaped(id)}">${escaped(type)}</a>${kind}</td>
<td class="when">${marked(when)}</td>
<td><code class="example">${escaped(jsonText(example))}</code>${shape}</td></tr>`;
}

function rowsOf(what: string, rows: readonly string[]): string {
  return `<table class="rows"><thead><tr><th scope="col" class="name">${what}</th><th scope="col" class="when">when</th><th scope="col">example</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody></table>`;
}

/** JSON that may be broken into lines between its fields. */
function jsonText(value: JsonValue): string {
  return JSON.stringify(value, undefined, 1).replaceAll(/\n\s*/g, ' ');
}

/** A text whose code stands between backticks. */
function marked(text: string): string {
  return escaped(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}
