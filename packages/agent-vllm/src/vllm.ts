import { bind, definePlugin, Model, ModelProbe, type PluginFactory } from '@hexagent/agent-core';
import { serverProbe } from './probe/probe-server.ts';
import { PROFILE_NAMES } from './server-profiles.ts';
import { EFFORTS } from './thinking.ts';
import { version } from './version.ts';
import { vllmModel } from './vllm-model.ts';
import type { VllmOptions } from './vllm-options.ts';

/** How long the start of an application may ask a server for its models, in milliseconds. */
const DISCOVERY_MS = 3000;

const milliseconds = { type: 'number', exclusiveMinimum: 0 } as const;

/** The plugin: any OpenAI-compatible chat-completions server as the application's model. */
export const vllm: PluginFactory<VllmOptions> = definePlugin<VllmOptions>({
  manifest: {
    name: '@hexagent/agent-vllm',
    version,
    contract: 1,
    contributes: [Model, ModelProbe],
    requires: [],
    options: {
      type: 'object',
      properties: {
        baseUrl: { type: 'string', minLength: 1 },
        id: { type: 'string', minLength: 1 },
        model: { type: 'string', minLength: 1 },
        apiKey: { description: 'A text, or a function that gives one.' },
        profile: {
          anyOf: [
            { type: 'string', enum: PROFILE_NAMES },
            { type: 'object', properties: { base: { enum: PROFILE_NAMES } }, required: ['base'] },
          ],
        },
        headers: { type: 'object', additionalProperties: { type: 'string' } },
        timeouts: {
          type: 'object',
          properties: {
            connectMs: milliseconds,
            firstByteMs: milliseconds,
            idleMs: milliseconds,
            totalMs: milliseconds,
          },
          additionalProperties: false,
        },
        retries: { type: 'integer', minimum: 0 },
        chatTemplateKwargs: { type: 'object' },
        thinking: { enum: [true, false, ...EFFORTS] },
        extra: { type: 'object' },
        cacheSalt: {
          type: 'object',
          properties: { secret: { type: 'string' } },
          required: ['secret'],
          additionalProperties: false,
        },
        priority: { description: 'A whole number, or a function of the request that gives one.' },
        promptCache: { enum: [false, '5m', '1h'] },
        minOutputTokens: { type: 'number', minimum: 1 },
        stream: { type: 'boolean' },
        contextWindow: { type: 'integer', minimum: 1 },
        inputModalities: { type: 'array', items: { type: 'string' } },
      },
      required: ['baseUrl'],
    },
  },
  setup: (options, { onStart, onClose }) => {
    const model = vllmModel(options);
    const isKnown = options.contextWindow !== undefined;
    const discovery = new AbortController();
    onStart(async () => {
      if (isKnown) return;
      const timer = setTimeout(() => discovery.abort(), DISCOVERY_MS);
      // Not waited for, and no error: a server that is down is reported by the run that needs it.
      void model
        .discover({ signal: discovery.signal })
        .catch(() => undefined)
        .finally(() => clearTimeout(timer));
    });
    onClose(async () => {
      discovery.abort();
      model.close();
    });
    return [bind(Model, model), bind(ModelProbe, serverProbe(options))];
  },
});
