export { callTool, type ToolCall } from './call-tool.ts';
export {
  type EmbeddingSubject,
  embeddingContract,
  type ScriptedEmbedding,
  type ScriptedEmbeddings,
} from './embedding-contract.ts';
export { type FakeClock, fakeClock } from './fake-clock.ts';
export { fakeIds } from './fake-ids.ts';
export { memoryDurability } from './memory-durability.ts';
export { type MemoryStoreOptions, memoryStore } from './memory-store.ts';
export {
  type ModelSubject,
  modelContract,
  type ScriptedAnswer,
  type ScriptedCall,
  type ScriptedServer,
} from './model-contract.ts';
export type { Rule } from './rule.ts';
export {
  type Script,
  type ScriptedModel,
  type ScriptOptions,
  type ScriptStep,
  scripted,
  scriptedModel,
} from './scripted-model.ts';
export { type StoreSubject, storeContract } from './store-contract.ts';
