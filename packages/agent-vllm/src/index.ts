export { type ProbeOptions, probeServer, type ServerReport } from './probe/probe-server.ts';
export type { MediaSourceKind, ServerProfile, ThinkingStyle } from './server-profile.ts';
export { type ProfileChoice, type ProfileName, SERVER_PROFILES } from './server-profiles.ts';
export { DEFAULT_TIMEOUTS } from './settings.ts';
export type { Thinking } from './thinking.ts';
export { vllm } from './vllm.ts';
export { type VllmModel, vllmModel } from './vllm-model.ts';
export type { Timeouts, VllmOptions } from './vllm-options.ts';
