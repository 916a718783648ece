import { lookup } from 'node:dns/promises';
import {
  type AnyPort,
  bind,
  definePlugin,
  HttpMount,
  hostListenFailed,
  type Plugin,
  type PluginFactory,
  type RunGateway,
  type SetupContext,
  type Worker,
} from '@hexagent/agent-core';
import { declaredRoutes } from './api/user-routes.ts';
import { checkClaims, createServer, type HostServer } from './create-server.ts';
import { HttpServer } from './http-server.ts';
import { closeServer } from './operation/close-server.ts';
import { startWorker, WORKER_SCHEMA } from './operation/host-worker.ts';
import { OPERATION_PROPERTIES } from './operation/operation-options.ts';
import { type HttpHostOptions, hostSettings } from './options.ts';
import { type HostSettings, LOG_LEVELS, METRICS_ACCESSES } from './settings.ts';
import { ON_DISCONNECT } from './streams/on-disconnect.ts';

/** The version of this package, for its manifest. */
export const VERSION = '0.1.0';

const whole = { type: 'integer', minimum: 0 };
const text = { type: 'string' };

const plugin: PluginFactory<HttpHostOptions> = definePlugin<HttpHostOptions>({
  manifest: {
    name: '@hexagent/agent-fastapi-like',
    version: VERSION,
    contract: 1,
    contributes: [HttpServer],
    requires: [HttpMount],
    options: {
      type: 'object',
      properties: {
        port: { type: 'integer', minimum: 0, maximum: 65_535 },
        host: { type: 'string', minLength: 1 },
        cors: {
          type: 'object',
          properties: {
            origins: { anyOf: [{ const: '*' }, { type: 'array', items: text }] },
            credentials: { type: 'boolean' },
            maxAgeSeconds: whole,
          },
          required: ['origins'],
          additionalProperties: false,
        },
        docs: {
          anyOf: [
            { const: false },
            {
              type: 'object',
              properties: {
                title: text,
                version: text,
                description: text,
                security: { type: 'object' },
              },
              additionalProperties: false,
            },
          ],
        },
        limits: {
          type: 'object',
          properties: {
            bodyBytes: whole,
            heartbeatMs: whole,
            requestMs: whole,
            ...OPERATION_PROPERTIES,
          },
          additionalProperties: false,
        },
        onDisconnect: { enum: [...ON_DISCONNECT] },
        sockets: {
          type: 'object',
          properties: {
            origins: { anyOf: [{ const: '*' }, { type: 'array', items: text }] },
            authenticateMs: { type: 'integer', minimum: 1 },
          },
          additionalProperties: false,
        },
        metrics: { enum: [...METRICS_ACCESSES] },
        logLevel: { enum: [...LOG_LEVELS] },
        worker: WORKER_SCHEMA,
      },
      required: ['port'],
      additionalProperties: true,
    },
  },
  setup: (options, context) => {
    const settings = hostSettings(options);
    const { routes } = declaredRoutes(options.routes, (port) => resolved(port, context));
    const mounts = [...context.all(HttpMount), ...settings.mounts];
    checkClaims(settings, { mounts, routes });
    let url: string | undefined;
    let server: HostServer | undefined;
    let worker: Worker | undefined;
    context.onStart(async (gateway: RunGateway) => {
      server = await createServer(settings, { gateway, mounts, routes });
      url = await listen(server, settings);
      worker = startWorker(gateway, { worker: settings.worker, log: server.fastify.log });
    });
    context.onClose(async (stop) => {
      url = undefined;
      if (server === undefined) return;
      const { drainMs } = settings.limits;
      // It claims nothing more from here on: what it would claim now would be given back at once.
      await Promise.all([
        closeServer(server, { ...stop, drainMs }),
        worker?.drain({ graceMs: drainMs }),
      ]);
    });
    return [
      bind(HttpServer, {
        get url() {
          return url;
        },
      }),
    ];
  },
});

/**
 * The inbound HTTP host: starts runs, streams their events, answers waits, and serves every bound
 * `HttpMount`. Listens when the application starts, drains when it closes. Between the two it goes on with durable runs that nobody
 * drives, as those of a process that died.
 *
 * @example
 * bootstrap({ plugins: [httpHost({ port: 8000 })], agents })
 */
export const httpHost: PluginFactory<HttpHostOptions> = Object.assign(
  (options: HttpHostOptions): Plugin => needing(plugin(options), options),
  { manifest: plugin.manifest },
);

/** The ports that routes need are required like any other: bootstrap says what is missing before it sets anything up. */
function needing(made: Plugin, { routes }: HttpHostOptions): Plugin {
  if (typeof routes !== 'function') return made;
  const needed = declaredRoutes(routes).needs.map(({ id }) => id);
  const requires = [...new Set([...made.manifest.requires, ...needed])];
  return { ...made, manifest: { ...made.manifest, requires } };
}

function resolved(port: AnyPort, context: SetupContext): unknown {
  return port.arity === 'many'
    ? context.all({ ...port, arity: 'many' })
    : context.get({ ...port, arity: 'one' });
}

async function listen(server: HostServer, { host, port }: HostSettings): Promise<string> {
  try {
    return await server.fastify.listen({ host: await addressOf(host), port });
  } catch (cause) {
    await server.fastify.close();
    throw hostListenFailed(`${host}:${port}`, cause);
  }
}

/** Fastify opens a second server for `localhost`, one for each of its addresses, and hands out the first only: here there is one. */
async function addressOf(host: string): Promise<string> {
  if (host !== 'localhost') return host;
  const { address } = await lookup(host, { order: 'ipv4first' });
  return address;
}
