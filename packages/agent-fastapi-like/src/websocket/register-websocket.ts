import type { WebSocket } from '@fastify/websocket';
import websocket from '@fastify/websocket';
import type { Principal } from '@hexagent/agent-core';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { pathPattern } from '../api/path-pattern.ts';
import type { HostContext } from '../host-context.ts';
import { HIDDEN } from '../openapi/hidden.ts';
import { HttpProblem } from '../problems/http-problem.ts';
import { type Liveness, livenessOf } from './liveness.ts';
import { CLOSE_CODES, SOCKET_PATH, SUBPROTOCOL } from './messages.ts';
import { closeToStranger, refusal } from './refusal.ts';
import { checkOrigin, hearsRefusals, principalAtUpgrade, principalByToken } from './socket-door.ts';
import { serveSocket } from './socket-session.ts';
import { type TakeUpgrade, takeUpgrades } from './upgrades.ts';

/** Serves `WS /agents/:agent/ws`. Called after the routes are added. */
export async function registerWebSocket(
  scope: FastifyInstance,
  context: HostContext,
): Promise<void> {
  const { bodyBytes, heartbeatMs } = context.settings.limits;
  await upgrading(scope, bodyBytes);
  const liveness = livenessOf(heartbeatMs);
  const asking = new WeakMap<FastifyRequest, Asking>();
  scope.route<{ readonly Params: { readonly agent: string } }>({
    method: 'GET',
    url: SOCKET_PATH,
    schema: HIDDEN,
    exposeHeadRoute: false,
    config: { access: 'caller' },
    // Refused before the upgrade, with a status, where that can be read.
    preValidation: async (request) => {
      checkOrigin(request, context);
      try {
        asking.set(request, { principal: await principalAtUpgrade(request, context) });
      } catch (error) {
        if (!request.ws || !hearsRefusals(request)) throw error;
        asking.set(request, { refused: error });
      }
    },
    handler: (_request, reply) => {
      reply.headers({ upgrade: 'websocket', connection: 'upgrade' });
      throw NO_SOCKET;
    },
    wsHandler: (socket, request) =>
      admit(socket, request, { context, liveness, asking: asking.get(request) ?? {} }),
  });
}

/** Who asks, or why nobody is let in; neither: the first message has to say it. */
type Asking = { readonly principal?: Principal | undefined; readonly refused?: unknown };

/** Lets a scope take the upgrades of its path. */
async function upgrading(scope: FastifyInstance, bodyBytes: number): Promise<void> {
  // The application around these routes has sockets of its own: what it has set up serves these, too.
  if (scope.hasDecorator('websocketServer')) return;
  const { server } = scope;
  const others = server.listeners('upgrade');
  await scope.register(websocket, {
    options: {
      maxPayload: bodyBytes,
      perMessageDeflate: false,
      clientTracking: false,
      // Never the entry that holds a token.
      handleProtocols: (offered) => offered.has(SUBPROTOCOL) && SUBPROTOCOL,
    },
    // The sockets are closed by their own signals, with the code of a restart.
    preClose: (done) => done(),
  });
  // The plugin listens to every upgrade of the server. Node types its listeners as functions of anything.
  const [listener] = server.listeners('upgrade').filter((one) => !others.includes(one));
  const take = listener as TakeUpgrade;
  server.off('upgrade', take);
  const prefix = scope.prefix === '/' ? '' : scope.prefix;
  const keepOthersOut = takeUpgrades(server, pathPattern(`${prefix}${SOCKET_PATH}`), take);
  scope.addHook('onReady', async () => keepOthersOut());
}

/** What is answered to a request that is for no socket. */
const NO_SOCKET: HttpProblem = new HttpProblem(426, {
  code: 'HTTP_REQUEST_INVALID',
  detail: 'This path is for a WebSocket, and this request asks for none.',
  mend: 'Open it with ws:// or wss://; events of a run over HTTP are at /runs/{runId}/events.',
});

function admit(
  socket: WebSocket,
  request: FastifyRequest<{ readonly Params: { readonly agent: string } }>,
  {
    context,
    liveness,
    asking: { principal, refused },
  }: {
    readonly context: HostContext;
    readonly liveness: Liveness;
    readonly asking: Asking;
  },
): void {
  const { gateway, operation, settings } = context;
  const signal = operation.open.socket(socket);
  liveness.follow(socket);
  if (refused !== undefined) {
    socket.send(JSON.stringify(refusal(refused)));
    closeToStranger(socket, refused);
    return;
  }
  const patience = setTimeout(
    () => socket.close(CLOSE_CODES.unauthenticated, 'Nobody said who asks.'),
    settings.sockets.authenticateMs,
  ).unref();
  const isKnown = (): void => clearTimeout(patience);
  if (principal !== undefined) isKnown();
  socket.once('close', isKnown);
  const closing = (): void => {
    if (socket.readyState !== socket.OPEN) return;
    socket.close(CLOSE_CODES.restarting, 'The host closes: come again with the last numbers.');
    const tooLate = setTimeout(() => socket.terminate(), settings.limits.drainMs).unref();
    socket.once('close', () => clearTimeout(tooLate));
  };
  if (signal.aborted) closing();
  else signal.addEventListener('abort', closing, { once: true });
  serveSocket(socket, {
    gateway,
    signal,
    principal,
    streams: operation.streams,
    agent: request.params.agent,
    onDisconnect: settings.onDisconnect,
    bodyBytes: settings.limits.bodyBytes,
    log: request.log,
    authenticate: async (token) => {
      const by = await principalByToken(token, { request, context });
      isKnown();
      return by;
    },
    admit: (by) => operation.admit(request, by),
  });
}
