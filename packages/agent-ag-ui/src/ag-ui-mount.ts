import { PROTOCOL_VERSION } from '@ag-ui/core';
import {
  type AgentDescription,
  type Caller,
  EVENT_STREAM_HEADERS,
  type HttpMount,
  httpMediaTypeUnsupported,
  httpMethodNotAllowed,
  httpRequestInvalid,
  httpRouteUnknown,
  linked,
  type MountContext,
  readJson,
} from '@hexagent/agent-core';
import { capabilitiesOf } from './capabilities.ts';
import { acceptsStream, isJson } from './http/negotiation.ts';
import { problemResponse } from './http/problem.ts';
import { parseInput } from './input/parse-input.ts';
import { type AgUiOptions, type Settings, settingsOf } from './options.ts';
import { planOf } from './plan/plan.ts';
import { cancelLeft } from './stream/leaving.ts';
import { runStream } from './stream/run-stream.ts';
import { streamBody } from './stream/stream-body.ts';
import { threadView } from './threads/thread-view.ts';

/**
 * AG-UI 1.0 as a mount for any host: `POST <base>/<agent>` runs an agent, `GET <base>/<agent>` says what it can do,
 * `GET <base>/<agent>/threads/<thread>` is what a client begins with after a reload.
 *
 * @param closing aborted when the application closes: streams then end with `RUN_ERROR`, durable runs go on elsewhere
 * @throws AgentError `BOOTSTRAP_INVALID` with every problem of the options at once.
 */
export function agUiMount(options: AgUiOptions = {}, closing?: AbortSignal): HttpMount {
  const settings = settingsOf(options);
  return {
    basePath: settings.basePath,
    describe: () => ({
      protocol: 'AG-UI',
      version: PROTOCOL_VERSION,
      routes: [
        'GET /',
        'POST /{agent}',
        'GET /{agent}',
        'GET /{agent}/capabilities',
        'GET /{agent}/threads/{threadId}',
      ],
    }),
    handle: async (request, context) => {
      try {
        return await serve(request, { ...context, settings, closing });
      } catch (error) {
        return problemResponse(error, { request });
      }
    },
  };
}

type Served = MountContext & {
  readonly settings: Settings;
  readonly closing: AbortSignal | undefined;
};

async function serve(request: Request, served: Served): Promise<Response> {
  const { method } = request;
  const { path } = served;
  const [name, below, threadId, ...rest] = segmentsOf(path);
  const notAllowed = (...allowed: readonly string[]): Response =>
    problemResponse(httpMethodNotAllowed(method, path, allowed), {
      request,
      headers: { allow: allowed.join(', ') },
    });
  const unknown = httpRouteUnknown(method, path);
  const principal = await served.authenticate(request);
  const caller: Caller = { principal, signal: served.signal };
  const agents = servedAgents(served, caller);
  if (name === undefined) return method === 'GET' ? listing(agents) : notAllowed('GET');
  const agent = agents.find((one) => one.name === name);
  if (agent === undefined || rest.length > 0) throw unknown;
  if (below === undefined && method === 'POST') return run(request, served, { agent, caller });
  if (below === undefined && method !== 'GET') return notAllowed('GET', 'POST');
  if (below === undefined || (below === 'capabilities' && threadId === undefined))
    return method === 'GET' ? json(capabilitiesOf(agent)) : notAllowed('GET');
  if (below !== 'threads' || threadId === undefined) throw unknown;
  if (method !== 'GET') return notAllowed('GET');
  const after = new URL(request.url).searchParams.get('after') ?? undefined;
  const names = agents.map((one) => one.name);
  const thread = { threadId, after, agent: agent.name, served: names };
  return json(await threadView(served.gateway, thread, caller));
}

/** One run, or the answers to one: what is wrong with the request is told before the stream begins. */
async function run(
  request: Request,
  { gateway, settings, signal, closing, waitUntil }: Served,
  { agent, caller }: { readonly agent: AgentDescription; readonly caller: Caller },
): Promise<Response> {
  if (!acceptsStream(request.headers.get('accept')))
    return problemResponse(
      httpRequestInvalid(
        'A run is answered as text/event-stream, and the request does not accept it.',
        'Send "accept: text/event-stream".',
      ),
      { request, status: 406 },
    );
  const contentType = request.headers.get('content-type');
  if (!isJson(contentType)) throw httpMediaTypeUnsupported(contentType?.slice(0, 100));
  const input = parseInput(await readJson(request, { maxBytes: settings.bodyBytes }));
  const reader = linked(signal, closing);
  const { clock, heartbeatMs, forwardedProps: forwarded, onDisconnect } = settings;
  try {
    const own: Caller = { ...caller, signal: reader.signal };
    const detached = onDisconnect === 'detach';
    const planned = await planOf({ gateway, caller: own, agent, forwarded, detached }, input);
    const onLeft = (): void => {
      if (onDisconnect !== 'cancel' || planned.kind === 'refused' || planned.follows) return;
      waitUntil(cancelLeft({ gateway }, planned.runId, own));
    };
    const events = runStream({ gateway, caller: own, clock, onLeft }, input, planned);
    const body = streamBody(events, {
      heartbeatMs,
      clock,
      signal: reader.signal,
      onLeave: (reason) => {
        reader.abort(reason ?? 'The stream is over.');
        reader.release();
      },
    });
    return new Response(body, { headers: EVENT_STREAM_HEADERS });
  } catch (error) {
    reader.release();
    throw error;
  }
}

function segmentsOf(path: string): readonly string[] {
  return path
    .split('/')
    .filter((segment) => segment !== '')
    .map(decoded);
}

/** What is no encoded text is the name of nothing. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function servedAgents({ gateway, settings }: Served, caller: Caller): readonly AgentDescription[] {
  const { agents } = settings;
  return gateway.agents(caller).filter(({ name }) => agents === undefined || agents.includes(name));
}

function listing(agents: readonly AgentDescription[]): Response {
  return json({
    agents: agents.map(({ name, description, objective }) => ({
      name,
      ...((description ?? objective) === undefined
        ? {}
        : { description: description ?? objective }),
    })),
  });
}

function json(value: unknown): Response {
  return new Response(JSON.stringify(value), {
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  });
}
