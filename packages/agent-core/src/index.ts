export { AgentError } from './base/error.ts';
export type { Stop } from './base/abort.ts';
export { linked } from './base/abort.ts';
export type { Clock, Instant } from './base/clock.ts';
export {
  bootstrapInvalid,
  type ErrorCode,
  hostClosing,
  hostListenFailed,
  httpBodyTooLarge,
  httpOriginRefused,
  httpRequestInvalid,
  httpRouteUnknown,
  inputInvalid,
  internalError,
  type Problem,
  principalRequired,
} from './base/error-catalog.ts';
export type { ErrorRecord } from './base/error.ts';
export { type CallId, type RunId, rootOf, runIdOf, type WaitId, waitIdOf } from './base/ids.ts';
export { isJsonObject, type JsonObject, type JsonValue } from './base/json.ts';
export type { Page } from './base/page.ts';
export { bind, type Binding, definePort, type Port } from './base/port.ts';
export { definePlugin, type Plugin, type PluginFactory, type SetupContext } from './bootstrap/plugin.ts';
export type { AgentDefinition } from './definition/agent-definition.ts';
export type { AgentEvent } from './events/agent-event.ts';
export type { Envelope } from './events/envelope.ts';
export type { Caller } from './gateway/caller.ts';
export type { AgentDescription, RunGateway } from './gateway/run-gateway.ts';
export type { RunHandle } from './gateway/run-handle.ts';
export { EVENT_STREAM_HEADERS, eventStream, type EventStreamOptions } from './transport/event-stream.ts';
export { type HttpError, httpErrorOf } from './transport/http-error.ts';
export { HttpMount, type MountContext } from './transport/http-mount.ts';
export { httpStatusOf } from './transport/http-status.ts';
export { DEFAULT_BODY_BYTES, readJson } from './transport/read-json.ts';
export type { EvidenceRow } from './vocabulary/evidence.ts';
export { type Message, type Part, textOf } from './vocabulary/message.ts';
export type { ModelSelection, ModelTool } from './vocabulary/model-selection.ts';
export type { RunOutcome, RunResult, RunSummary } from './vocabulary/outcome.ts';
export type { RunInput } from './vocabulary/run-input.ts';
export type { Principal, Scope } from './vocabulary/scope.ts';
export { SIGNAL_KINDS, type SignalKind } from './vocabulary/signal.ts';
export { isTerminal, RUN_STATUSES, type RunState, type RunStatus } from './vocabulary/state.ts';
export type { Usage } from './vocabulary/usage.ts';
export {
  type Decision,
  DECISIONS,
  WAIT_KINDS,
  WAIT_STATUSES,
  type Wait,
  type WaitKind,
  type WaitResolution,
  type WaitStatus,
} from './vocabulary/wait.ts';
