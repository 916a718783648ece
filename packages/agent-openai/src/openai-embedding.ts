import { bind, definePlugin, EmbeddingModel, type PluginFactory } from '@hexagent/agent-core';
import { ENCODINGS, MOST_TEXTS, type OpenAiEmbeddingOptions } from './embedding-options.ts';
import { openaiEmbeddings } from './openai-embeddings.ts';
import { API_OPTIONS_SCHEMA } from './plugin-options.ts';
import { version } from './version.ts';

/** The plugin: OpenAI's embeddings as the application's embedding model. */
export const openaiEmbedding: PluginFactory<OpenAiEmbeddingOptions> =
  definePlugin<OpenAiEmbeddingOptions>({
    manifest: {
      name: '@hexagent/agent-openai/embedding',
      version,
      contract: 1,
      contributes: [EmbeddingModel],
      requires: [],
      options: {
        type: 'object',
        properties: {
          model: { type: 'string', minLength: 1 },
          ...API_OPTIONS_SCHEMA,
          dimensions: { type: 'integer', minimum: 1 },
          batchSize: { type: 'integer', minimum: 1, maximum: MOST_TEXTS },
          encoding: { enum: ENCODINGS },
        },
      },
    },
    setup: (options) => [bind(EmbeddingModel, openaiEmbeddings(options))],
  });
