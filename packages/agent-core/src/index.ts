// ── define: agents and tools as data ─────────────────────────────────────────────────────────────

export {
  type ApprovalPolicy,
  type ApprovalQuestion,
  type ApprovalRules,
  POLICY_DECISIONS,
  type PolicyAnswer,
  type PolicyDecision,
} from './approvals/approval-rules.ts';
export type { InferSchema, JsonSchemaLike, Schema, StandardSchemaV1 } from './base/schema-types.ts';
export {
  type AgentDefinition,
  type AgentSpec,
  EXPOSURES,
  type HookableKind,
  type Limits,
  type OutputOf,
  PROMPT_CACHINGS,
  type PromptCaching,
  RECOVERIES,
  type SignalHook,
} from './definition/agent-definition.ts';
export { defineAgent } from './definition/define-agent.ts';
export { clientTool, DEFAULT_MAX_RESULT_BYTES, defineTool } from './tools/define-tool.ts';
export {
  DATA_ACCESSES,
  type Effects,
  EXTERNALITIES,
  effects,
  IDEMPOTENCIES,
  type Idempotency,
} from './tools/effects.ts';
export { isSuspended, type Suspended, suspend, type WaitFor } from './tools/suspend.ts';
export {
  APPROVAL_REQUIREMENTS,
  type ApprovalRequirement,
  type Carried,
  type Reconciliation,
  type Resolution,
  RISK_AXES,
  type RiskAxis,
  type Tool,
  type ToolDefinition,
  type ToolSpec,
} from './tools/tool.ts';

// ── compose: ports, plugins and the application ──────────────────────────────────────────────────

export {
  type AnyPort,
  type Binding,
  bind,
  definePort,
  type Needs,
  type Port,
  type Resolved,
} from './base/port.ts';
export type { App, AppConfig, StartOptions } from './bootstrap/app.ts';
export { bootstrap } from './bootstrap/bootstrap.ts';
export { checkManifest } from './bootstrap/check-manifest.ts';
export { createWorker } from './bootstrap/create-worker.ts';
export { ClockPort, IdsPort } from './bootstrap/environment.ts';
export { type ModelRouterOptions, modelRouter } from './bootstrap/model-router.ts';
export {
  CONTRACT,
  definePlugin,
  type Manifest,
  type Plugin,
  type PluginFactory,
  type PluginSpec,
  type SetupContext,
} from './bootstrap/plugin.ts';

// ── run: the gateway and its handles ─────────────────────────────────────────────────────────────

export type { Caller } from './gateway/caller.ts';
export type {
  ConversationPage,
  ConversationQuery,
  ConversationTurn,
} from './gateway/conversation.ts';
export type { ForkOptions } from './gateway/fork-run.ts';
export type { GrantQuery } from './gateway/grants.ts';
export type { Pruned, PruneOptions } from './gateway/prune-runs.ts';
export type { AgentDescription, RunGateway } from './gateway/run-gateway.ts';
export type { RunHandle } from './gateway/run-handle.ts';
export type { LedgerCall, ShownMessage } from './gateway/shown-tree.ts';
export type { RunSnapshot } from './gateway/snapshot.ts';
export type { Worker, WorkerOptions, WorkerReport, WorkerRest } from './gateway/worker-options.ts';
export type { RunOutcome, RunResult, RunSummary } from './vocabulary/outcome.ts';
export { ADMISSIONS, type Admission, type RunInput } from './vocabulary/run-input.ts';

// ── watch: events and their projection ───────────────────────────────────────────────────────────

export {
  type AgentEvent,
  EVENT_CLASSES,
  type EventClass,
  type EventOf,
} from './events/agent-event.ts';
export { type AgentYield, YIELD_KINDS } from './events/agent-yield.ts';
export { type Envelope, fenceOf, sequenceOf } from './events/envelope.ts';
export { fromYield, toYields, type YieldedEnd } from './events/project-yields.ts';

// ── vocabulary: the nouns of events, records and inputs ──────────────────────────────────────────

export {
  type Cancellation,
  CLEANUP_TARGETS,
  type CleanupOutcome,
  type CleanupTarget,
} from './vocabulary/cancellation.ts';
export type { Cost } from './vocabulary/cost.ts';
export {
  EVIDENCE_CAPTURES,
  EVIDENCE_KINDS,
  type EvidenceCapture,
  type EvidenceKind,
  type EvidenceRow,
} from './vocabulary/evidence.ts';
export type { Kept } from './vocabulary/kept.ts';
export {
  CALL_OUTCOMES,
  type CallOutcome,
  type DataPart,
  isMediaPart,
  MESSAGE_ROLES,
  type MediaPart,
  type MediaSource,
  type Message,
  type Part,
  type ProviderState,
  type ReasoningPart,
  type TextPart,
  type ToolCallPart,
  type ToolResultPart,
  textOf,
} from './vocabulary/message.ts';
export type { ModelSelection, ModelTool } from './vocabulary/model-selection.ts';
export type { RunContext, ToolContext } from './vocabulary/run-context.ts';
export type { Principal, Scope } from './vocabulary/scope.ts';
export {
  CONVERSATION_KINDS,
  isControl,
  POLL_POINTS,
  type PollPoint,
  type RunSignal,
  SIGNAL_KINDS,
  type SignalKind,
} from './vocabulary/signal.ts';
export {
  isTerminal,
  type JsonPatch,
  RUN_STATUSES,
  RUN_TRANSITIONS,
  type RunState,
  type RunStatus,
  type RunTransition,
  STATE_REASONS,
  type StateReason,
  TERMINAL_STATUSES,
} from './vocabulary/state.ts';
export { addUsage, totalTokens, type Usage } from './vocabulary/usage.ts';
export {
  DECISIONS,
  DECISIONS_OF,
  type Decision,
  REMEMBERED,
  REMEMBERED_WITHIN,
  type Remember,
  WAIT_KINDS,
  WAIT_STATUSES,
  type Wait,
  type WaitKind,
  type WaitRecord,
  type WaitResolution,
  type WaitStatus,
} from './vocabulary/wait.ts';

// ── ports that adapters fill ─────────────────────────────────────────────────────────────────────

export { BlobStore } from './durable/blob-store.ts';
export { CALL_STAGES, type Call, type CallStage } from './durable/call.ts';
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
export { Durability, type DurableStore, FORMAT } from './durable/durable-store.ts';
export type { EventLog } from './durable/event-log.ts';
export {
  LIFECYCLE,
  LIFECYCLE_EVENTS,
  type LifecycleEvent,
  type LifecycleEventKind,
  type LifecycleMove,
  type RestReason,
  type Standing,
  standingAfter,
} from './durable/lifecycle.ts';
export { Migrator } from './durable/migrator.ts';
export { RunDispatcher } from './durable/run-dispatcher.ts';
export type { ResolveResult, RunInbox } from './durable/run-inbox.ts';
export type { Created, Creation, RunOwnership } from './durable/run-ownership.ts';
export type { RunHead, RunQuery, RunRecords, RunTree, WaitQuery } from './durable/run-records.ts';
export { Sealer } from './durable/sealer.ts';
export { envelopesOf, rowsOf } from './durable/stored-events.ts';
export type { Value, ValueKey, ValueStore, ValueWrite } from './durable/value-store.ts';
export { Observer } from './events/observer.ts';
export {
  type AgentModel,
  FINISH_REASONS,
  Model,
  type ModelCapabilities,
  type ModelEvent,
  type ModelLoad,
  type ModelRequest,
  type PromptCache,
} from './model/agent-model.ts';
export type { Cassette, CassetteStore, Recording } from './model/cassette.ts';
export { type CatalogueEntry, ModelCatalogue, modelCatalogue } from './model/catalogue.ts';
export {
  EMBEDDING_PURPOSES,
  type EmbeddingAnswer,
  EmbeddingModel,
  type EmbeddingPurpose,
  type EmbeddingRequest,
} from './model/embedding-model.ts';
export { FALLBACK_CODES, type FallbackOptions, withFallbacks } from './model/fallback.ts';
export { MODALITIES, type Modality, modalityOf } from './model/modality.ts';
export { type ModelConclusion, type ModelFinding, ModelProbe } from './model/model-probe.ts';
export { costOf, type Price, type Prices } from './model/prices.ts';
export { type RateLimit, withRateLimit } from './model/rate-limit.ts';
export { type RecordedModel, type RecordOptions, recordedModel } from './model/record.ts';
export type { Redaction } from './model/redact.ts';
export { type ReplayedModel, replayedModel, withCassette } from './model/replay.ts';
export { type RetryOptions, withRetries } from './model/retry.ts';
export { type RoutedModelOptions, routedModel } from './model/routed-model.ts';
export { ROUTE_POLICIES, type RouteChoice, type RoutingOptions } from './model/routing-options.ts';
export { type ModelCall, type ModelTelemetry, withTelemetry } from './model/telemetry.ts';
export { type OpenedTools, ToolSource } from './sources/tool-source.ts';
export {
  type ErrorAnswer,
  errorAnswerOf,
  PROBLEM_MEDIA_TYPE,
  type ProblemBody,
  problemBodyOf,
} from './transport/error-answer.ts';
export {
  EVENT_STREAM_HEADERS,
  type EventStreamOptions,
  eventStream,
} from './transport/event-stream.ts';
export { HttpMount, type MountContext } from './transport/http-mount.ts';
export { httpStatusOf } from './transport/http-status.ts';
export { DEFAULT_BODY_BYTES, readJson } from './transport/read-json.ts';

// ── sensitive data ───────────────────────────────────────────────────────────────────────────────

export {
  CONTEXT_EXPOSURE,
  type ContextExposurePolicy,
  EVIDENCE_EXPOSURE,
  type EvidenceExposurePolicy,
  type ExposurePolicy,
} from './guard/exposure.ts';
export { guardValue } from './guard/guard-value.ts';
export {
  type FieldMark,
  MASKINGS,
  type Mark,
  PII_CATEGORIES,
  REDACTIONS,
  SENSITIVITIES,
  type SecretMark,
  type SensitiveMark,
} from './guard/mark.ts';
export {
  markFields,
  type SecretOptions,
  type SensitiveOptions,
  secret,
  secretField,
  sensitive,
  sensitiveField,
} from './guard/sensitive.ts';
export { type GuardedStream, type ValueGuard, valueGuard } from './guard/value-guard.ts';
export {
  inputSchemaFor,
  outputSchemaFor,
  SENSITIVE_KEYWORD,
  withSensitiveKeyword,
} from './tools/schema-exposure.ts';

// ── building blocks of the loop, for a custom `execute` ──────────────────────────────────────────

export type { Grant } from './approvals/grant.ts';
export { idempotencyKey } from './approvals/idempotency-key.ts';
export { inputDigest } from './approvals/input-digest.ts';
export {
  type DecisionReading,
  type DecisionTarget,
  parseDecision,
} from './approvals/parse-decision.ts';
export {
  type ApprovalOptions,
  type ApprovalPlan,
  planApproval,
} from './approvals/plan-approval.ts';
export {
  type CallRecovery,
  planCallRecovery,
  type RecoveryOptions,
} from './approvals/plan-call-recovery.ts';
export { planResume, type ResumePlan } from './approvals/plan-resume.ts';
export { assembleMessages } from './runner/assemble-messages.ts';
export type { Boundary } from './runner/boundaries.ts';
export { type CleanupTask, runCleanups } from './runner/cleanup.ts';
export { payloadDigest, rowHash } from './runner/evidence-chain.ts';
export { type RunControls, runControls } from './runner/run-controls.ts';
export {
  CHAIN_FAULTS,
  type ChainExpectation,
  type ChainFault,
  type ChainReport,
  verifyEvidence,
  verifyPages,
} from './runner/verify-evidence.ts';
export { captureResult } from './tools/capture-result.ts';
export { type ToolCatalogue, toolCatalogue, toolIdentity } from './tools/catalogue.ts';
export { type ToolDispatcher, type ToolRequest, toolDispatcher } from './tools/dispatcher.ts';
export { invokeTool, resultParts, resumeTool, type ToolOutcome } from './tools/invoke-tool.ts';
export { type ParsedArguments, parseArguments } from './tools/parse-arguments.ts';
export { isApprovalCandidate, isReadOnly, riskOf } from './tools/risk.ts';

// ── base ─────────────────────────────────────────────────────────────────────────────────────────

export { type Linked, linked, type Stop, untilAborted } from './base/abort.ts';
export { type Clock, type Instant, systemClock } from './base/clock.ts';
export { AgentError, type ErrorDetail, type ErrorRecord } from './base/error.ts';
export {
  agentUnknown,
  bootstrapInvalid,
  configInvalid,
  configNotFound,
  definitionInvalid,
  hostClosing,
  hostListenFailed,
  hostOverloaded,
  httpBodyTooLarge,
  httpMediaTypeUnsupported,
  httpMethodNotAllowed,
  httpOriginRefused,
  httpRateLimited,
  httpRequestInvalid,
  httpRouteUnknown,
  inputInvalid,
  internalError,
  ownerUnresolved,
  type Problem,
  principalRequired,
  runNotFound,
  socketOriginRefused,
  waitNotFound,
} from './base/error-catalog.ts';
export { ERROR_CODES, type ErrorCode } from './base/error-codes.ts';
export {
  type CallId,
  callIdOf,
  type IdSource,
  type RunId,
  randomIds,
  rootOf,
  runIdOf,
  type WaitId,
  waitIdOf,
} from './base/ids.ts';
export { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from './base/json.ts';
export type { Page } from './base/page.ts';
