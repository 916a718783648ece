export { AgentError } from './base/error.ts';
export type { Stop } from './base/abort.ts';
export { linked, untilAborted } from './base/abort.ts';
export type { Clock, Instant } from './base/clock.ts';
export { bootstrapInvalid, type ErrorCode, hostClosing, hostListenFailed, httpBodyTooLarge, httpOriginRefused, httpRequestInvalid, httpRouteUnknown, inputInvalid, internalError, type Problem, principalRequired } from './base/error-catalog.ts';
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
export { type ErrorAnswer, errorAnswerOf } from './transport/error-answer.ts';
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
export { type Decision, DECISIONS, WAIT_KINDS, WAIT_STATUSES, type Wait, type WaitKind, type WaitResolution, type WaitStatus } from './vocabulary/wait.ts';
export { configInvalid, configNotFound, runNotFound, waitNotFound } from './base/error-catalog.ts';
export type { AnyPort } from './base/port.ts';
export { totalTokens } from './vocabulary/usage.ts';
export { DECISIONS_OF } from './vocabulary/wait.ts';
export type { EventOf } from './events/agent-event.ts';
export type { AgentYield } from './events/agent-yield.ts';
export { Model } from './model/agent-model.ts';
export type { AgentModel } from './model/agent-model.ts';
export { Durability } from './durable/durable-store.ts';
export type { DurableStore } from './durable/durable-store.ts';
export { Migrator } from './durable/migrator.ts';
export type { App, AppConfig } from './bootstrap/app.ts';
export { CONTRACT } from './bootstrap/plugin.ts';
export type { Manifest } from './bootstrap/plugin.ts';
export { FINISH_REASONS, type ModelCapabilities, type ModelEvent, type ModelRequest } from './model/agent-model.ts';
export { callIdOf } from './base/ids.ts';
export type { Call } from './durable/call.ts';
export type {
  Commit,
  CommitResult,
  Lease,
  StoredEvents,
  StoredMessage,
  WaitMove,
  WaitOpening,
  Written,
} from './durable/commit.ts';
export type { ConversationStore, Turn } from './durable/conversation-store.ts';
export { FORMAT } from './durable/durable-store.ts';
export type { EventLog } from './durable/event-log.ts';
export type { ResolveResult, RunInbox } from './durable/run-inbox.ts';
export type { Created, Creation, RunOwnership } from './durable/run-ownership.ts';
export type { RunHead, RunQuery, RunRecords, RunTree, WaitQuery } from './durable/run-records.ts';
export type { Value, ValueKey, ValueStore, ValueWrite } from './durable/value-store.ts';
export type { Kept } from './vocabulary/kept.ts';
export { isControl } from './vocabulary/signal.ts';
export type { RunSignal } from './vocabulary/signal.ts';
export type { WaitRecord } from './vocabulary/wait.ts';
export { definitionInvalid } from './base/error-catalog.ts';
export { addUsage } from './vocabulary/usage.ts';
export { defineTool } from './tools/define-tool.ts';
export { effects } from './tools/effects.ts';
