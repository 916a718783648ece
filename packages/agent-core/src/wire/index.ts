export { type Linked, linked, onAbort, type Stop, untilAborted } from '../base/abort.ts';
export { type Clock, systemClock } from '../base/clock.ts';
export { AgentError } from '../base/error.ts';
// what went wrong: one factory a code
export {
  inputInvalid,
  type ModelFailure,
  modelAuthentication,
  modelContextOverflow,
  modelFailed,
  modelNotFound,
  modelOverloaded,
  modelRateLimited,
  modelRefused,
  modelRequestInvalid,
  modelResponseInvalid,
  modelStreamTruncated,
  modelTimeout,
  modelUnreachable,
  type Problem,
  toolNameCollision,
} from '../base/error-catalog.ts';
export { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
// another try
export { type BackOffInput, backOff } from '../model/back-off.ts';
export { cacheBreakpoints } from '../model/cache-breakpoints.ts';
export { MODALITIES, type Modality, modalityOf } from '../model/modality.ts';
export { type RetryOptions, withRetries } from '../model/retry.ts';
export { type RetryPolicy, retrying } from '../model/retrying.ts';
// answers over HTTP
export { alarm } from './alarm.ts';
export {
  type AnswerReader,
  answerBatches,
  type OpenAnswer,
} from './answer-batches.ts';
export {
  type AnswerLimits,
  type AnswerTimeouts,
  answerLimits,
} from './answer-limits.ts';
export { type AnswerBody, type AnswerText, answerText } from './answer-text.ts';
// streams
export { batched } from './batched.ts';
// options
export {
  extraProblems,
  headerProblems,
  isHeaderText,
  nameProblems,
  secretsOf,
  timeoutProblems,
} from './check-options.ts';
// headers
export { customHeaderProblems, type HeaderList, onlyHeaders } from './client-headers.ts';
// errors of servers
export { type ContextOverflow, contextOverflow, overflowOf } from './context-overflow.ts';
export { type ErrorContext, type ErrorHint, faultError, httpError } from './http-error.ts';
export { masked } from './masked.ts';
export { parseJson } from './parse-json.ts';
export { faultOf, faultOfBody, type ProviderFault } from './provider-fault.ts';
export { type HeaderReader, retryAfterOf, shouldRetry } from './retry-after.ts';
// names
export { shortHash } from './short-hash.ts';
export { type SseFrame, sseEncode } from './sse-encode.ts';
export {
  type ToolCallAssembler,
  type ToolCallDelta,
  type ToolCallEnd,
  toolCallAssembler,
} from './tool-call-assembler.ts';
export {
  type TotalLimit,
  withinTotalLimit,
  withTotalLimit,
} from './total-limit.ts';
export { type WireNameProblems, type WireNames, wireName, wireNames } from './wire-names.ts';
