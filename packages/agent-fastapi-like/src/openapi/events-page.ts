import { isJsonObject, type JsonObject, type JsonValue } from '@hexagent/agent-core';
import { CLOSE_REASONS, SOCKET_MESSAGES, SUBPROTOCOL } from '../websocket/messages.ts';
import { MOST_RUNS } from '../websocket/watched-runs.ts';
import { escaped } from './html.ts';

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem}
pre{background:#f4f4f4;padding:.75rem;overflow:auto;font-size:13px}code{font-size:.9em}`;

/** How a reader of events works, for people: the frames of the stream, the messages of the socket, and the shape of each event. */
export function eventsPage(document: JsonObject): string {
  const schemas = schemasOf(document);
  const events = unionOf(schemas['Event']);
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Events</title><style>${STYLE}</style></head>
<body>
<h1>Events</h1>
<p><a href="../docs">All routes</a></p>
<h2>Server-sent events</h2>
<p><code>GET /runs/{runId}/events</code>, and a start with <code>Accept: text/event-stream</code>, send one frame an event:
<code>id</code> is its number, <code>data</code> the envelope below. Comments keep a quiet stream open. After a lost connection go on
with <code>Last-Event-ID</code> (an <code>EventSource</code> sends it by itself) or <code>?after=</code>: every event behind that number
comes once. <code>204</code> says that nothing is left to come.</p>
<p><code>event: snapshot</code> brings the run as it is now when the events behind a cursor are no longer kept: it replaces what the
reader has. <code>event: failure</code> is the last frame of a stream that could not go on. Events of steps that a later
<code>rewound</code> names no longer count.</p>
${section('Envelope', schemas['Envelope'])}
${section('Snapshot', schemas['Snapshot'])}
${socketSection(schemas)}
<h2>Kinds of events</h2>
${events.map((event) => section(wordOf(event), event)).join('\n')}
</body>
</html>
`;
}

function socketSection(schemas: JsonObject): string {
  const names = Object.keys(SOCKET_MESSAGES);
  return `<h2>WebSocket</h2>
<p><code>WS /agents/{agent}/ws</code>: one JSON message a frame, in both directions. A message of the client may carry an <code>id</code>,
which its answer repeats; messages are taken in their order. One socket starts and watches as many runs as it likes, up to ${MOST_RUNS} at
a time. After a lost connection say <code>watch</code> with the last number as <code>after</code>.</p>
<p>The subprotocol is <code>${SUBPROTOCOL}</code>. Who asks is told like everywhere by <code>Authorization</code>; a page in a browser, which
can set no header, offers the subprotocols <code>${SUBPROTOCOL}</code> and <code>bearer.&lt;token&gt;</code>, or sends
<code>authenticate</code> as its first message. <code>ready</code> says that the caller is known.</p>
<p>The host pings quiet sockets and breaks off those that do not answer. A client that does not read is sent no more until it does.</p>
<table><tr><th>closed with</th><th>because</th></tr>
${CLOSE_REASONS.map(([code, why]) => `<tr><td>${code}</td><td>${escaped(why)}</td></tr>`).join('\n')}
</table>
${names.map((name) => section(name, schemas[name])).join('\n')}`;
}

function section(name: string, schema: JsonValue | undefined): string {
  if (schema === undefined) return '';
  return `<h3 id="${escaped(name)}">${escaped(name)}</h3>
<pre>${escaped(JSON.stringify(schema, undefined, 2))}</pre>`;
}

function schemasOf({ components }: JsonObject): JsonObject {
  if (!isJsonObject(components)) return {};
  const { schemas } = components;
  return isJsonObject(schemas) ? schemas : {};
}

function unionOf(schema: JsonValue | undefined): readonly JsonObject[] {
  if (!isJsonObject(schema)) return [];
  const { anyOf } = schema;
  return Array.isArray(anyOf) ? anyOf.filter(isJsonObject) : [];
}

/** The word that tells a kind of event from the others. */
function wordOf({ properties }: JsonObject): string {
  const type = isJsonObject(properties) ? properties['type'] : undefined;
  return isJsonObject(type) ? String(type['const']) : '';
}
