import { bind, definePlugin, Model, type PluginFactory } from '@hexagent/agent-core';
import { anthropicModel } from './anthropic-model.ts';
import { type AnthropicOptions, EFFORTS } from './anthropic-options.ts';
import { version } from './version.ts';

const text = { type: 'string', minLength: 1 } as const;
const milliseconds = { type: 'number', exclusiveMinimum: 0 } as const;

/** The plugin: Anthropic's Messages API, or another server that speaks it, as the application's model. */
export const anthropic: PluginFactory<AnthropicOptions> = definePlugin<AnthropicOptions>({
  manifest: {
    name: '@hexagent/agent-anthropic',
    version,
    contract: 1,
    contributes: [Model],
    requires: [],
    options: {
      type: 'object',
      properties: {
        model: text,
        apiKey: text,
        baseUrl: text,
        auth: { type: 'string', enum: ['bearer', 'x-api-key', 'both'] },
        apiVersion: text,
        id: text,
        headers: { type: 'object', additionalProperties: { type: 'string' } },
        timeouts: {
          type: 'object',
          properties: { firstByteMs: milliseconds, idleMs: milliseconds, totalMs: milliseconds },
          additionalProperties: false,
        },
        retries: { type: 'integer', minimum: 0 },
        maxTokens: { type: 'integer', minimum: 1 },
        thinking: {
          type: 'object',
          properties: {
            type: { type: 'string', enum: ['adaptive', 'enabled', 'disabled'] },
            budgetTokens: { type: 'integer', minimum: 1024 },
            display: { type: 'string', enum: ['summarized', 'omitted'] },
          },
          required: ['type'],
        },
        effort: { type: 'string', enum: EFFORTS },
        promptCache: { enum: [false, '5m', '1h'] },
        parallelTools: { type: 'boolean' },
        strictTools: { type: 'boolean' },
        structuredOutput: { type: 'string', enum: ['with-tools', 'final-only', 'none'] },
        serverTools: { type: 'array', items: { type: 'object' } },
        extra: { type: 'object' },
        contextWindow: { type: 'integer', minimum: 1 },
        inputModalities: { type: 'array', items: { type: 'string' } },
      },
      required: ['model'],
    },
  },
  setup: (options) => [bind(Model, anthropicModel(options))],
});
