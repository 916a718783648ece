export { DEFAULT_TIMEOUTS, type Timeouts } from './api-options.ts';
export type { OpenAiEmbeddingOptions } from './embedding-options.ts';
export { openai } from './openai.ts';
export { openaiEmbedding } from './openai-embedding.ts';
export { openaiEmbeddings } from './openai-embeddings.ts';
export { openaiModel } from './openai-model.ts';
export type { OpenAiOptions } from './openai-options.ts';
