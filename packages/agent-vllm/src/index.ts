export {
  type ProfileChoice,
  type ProfileName,
  SERVER_PROFILES,
  type ServerProfile,
} from './server-profile.ts';
export { vllm } from './vllm.ts';
export { type VllmModel, vllmModel } from './vllm-model.ts';
export { DEFAULT_TIMEOUTS, type Timeouts, type VllmOptions } from './vllm-options.ts';
