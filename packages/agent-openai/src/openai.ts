import { bind, definePlugin, Model, type PluginFactory } from '@hexagent/agent-core';
import { MODALITIES } from '@hexagent/agent-core/adapter';
import { openaiModel } from './openai-model.ts';
import {
  APIS,
  type OpenAiOptions,
  PROMPT_CACHE_MODES,
  REASONING_EFFORTS,
  REASONING_SUMMARIES,
  SERVICE_TIERS,
  VERBOSITIES,
} from './openai-options.ts';
import { API_OPTIONS_SCHEMA } from './plugin-options.ts';
import { version } from './version.ts';

/** The plugin: a model of OpenAI as the application's model. */
export const openai: PluginFactory<OpenAiOptions> = definePlugin<OpenAiOptions>({
  manifest: {
    name: '@hexagent/agent-openai',
    version,
    contract: 1,
    contributes: [Model],
    requires: [],
    options: {
      type: 'object',
      properties: {
        model: { type: 'string', minLength: 1 },
        ...API_OPTIONS_SCHEMA,
        api: { enum: APIS },
        reasoning: {
          type: 'object',
          properties: {
            effort: { enum: REASONING_EFFORTS },
            summary: { enum: REASONING_SUMMARIES },
          },
          additionalProperties: false,
        },
        verbosity: { enum: VERBOSITIES },
        serviceTier: { enum: SERVICE_TIERS },
        strict: { type: 'boolean' },
        parallelToolCalls: { type: 'boolean' },
        promptCache: { enum: [false, '5m', '1h'] },
        promptCacheMode: { enum: PROMPT_CACHE_MODES },
        extra: { type: 'object' },
        contextWindow: { type: 'integer', minimum: 1 },
        inputModalities: { type: 'array', items: { enum: MODALITIES } },
      },
      required: ['model'],
    },
  },
  setup: (options) => [bind(Model, openaiModel(options))],
});
