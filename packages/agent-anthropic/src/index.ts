export { anthropic } from './anthropic.ts';
export { anthropicModel } from './anthropic-model.ts';
export {
  type AnthropicOptions,
  DEFAULT_MAX_TOKENS,
  DEFAULT_TIMEOUTS,
  EFFORTS,
  type Thinking,
  type Timeouts,
} from './anthropic-options.ts';
