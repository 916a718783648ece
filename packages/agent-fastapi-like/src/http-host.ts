import {
  bind,
  definePlugin,
  HttpMount,
  hostListenFailed,
  type PluginFactory,
  type RunGateway,
} from '@hexagent/agent-core';
import { createServer, type HostServer } from './create-server.ts';
import { HttpServer } from './http-server.ts';
import { closeServer } from './operation/close-server.ts';
import { OPERATION_PROPERTIES } from './operation/operation-options.ts';
import { type HostSettings, type HttpHostOptions, hostSettings, LOG_LEVELS } from './options.ts';

/** The version of this package, for its manifest. */
export const VERSION = '0.1.0';

const whole = { type: 'integer', minimum: 0 };

/**
 * The inbound HTTP host: starts runs, streams their events, answers waits, and serves every bound
 * `HttpMount`. Listens when the application starts, drains when it closes.
 */
export const httpHost: PluginFactory<HttpHostOptions> = definePlugin<HttpHostOptions>({
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
        logLevel: { enum: [...LOG_LEVELS] },
      },
      required: ['port'],
      additionalProperties: true,
    },
  },
  setup: (options, context) => {
    const settings = hostSettings(options);
    const mounts = context.all(HttpMount);
    let url: string | undefined;
    let server: HostServer | undefined;
    context.onStart(async (gateway: RunGateway) => {
      server = createServer(settings, { gateway, mounts });
      url = await listen(server, settings);
    });
    context.onClose(async (stop) => {
      url = undefined;
      if (server === undefined) return;
      await closeServer(server, { ...stop, drainMs: settings.limits.drainMs });
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

async function listen(server: HostServer, { host, port }: HostSettings): Promise<string> {
  try {
    return await server.fastify.listen({ host, port });
  } catch (cause) {
    await server.fastify.close();
    throw hostListenFailed(`${host}:${port}`, cause);
  }
}
