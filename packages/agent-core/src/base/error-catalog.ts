import { AgentError } from './error.ts';
import type { ErrorCode } from './error-codes.ts';

/** One thing that is wrong with a definition, an option or an input. */
export type Problem = {
  /** Where: `defineAgent("code-assistant").tools[2]`, `plugins[0].options.url`. */
  readonly at: string;
  /** What was seen there. */
  readonly seen: string;
  /** What to do about it. */
  readonly mend: string;
};

const listed = (problems: readonly Problem[]): string =>
  problems.map(({ at, seen, mend }) => `  - ${at}: ${seen} ${mend}`).join('\n');

const counted = (problems: readonly Problem[]): string =>
  problems.length === 1 ? '1 problem' : `${problems.length} problems`;

/** A tool, an agent, a port or a plugin is declared wrongly. All problems of the definition, at once. */
export function definitionInvalid(subject: string, problems: readonly Problem[]): AgentError {
  return new AgentError('DEFINITION_INVALID', {
    message: `${subject} has ${counted(problems)}:\n${listed(problems)}`,
    mend: 'Correct each line above; nothing was defined.',
  });
}

/** The composition of an application is wrong. All problems at once; nothing was started. */
export function bootstrapInvalid(problems: readonly Problem[]): AgentError {
  return new AgentError('BOOTSTRAP_INVALID', {
    message: `bootstrap found ${counted(problems)}:\n${listed(problems)}`,
    mend: 'Correct each line above; nothing was started.',
  });
}

/** A caller's input does not fit. All problems at once. */
export function inputInvalid(subject: string, problems: readonly Problem[]): AgentError {
  return new AgentError('INPUT_INVALID', {
    message: `${subject} has ${counted(problems)}:\n${listed(problems)}`,
    mend: 'Correct each line above and send it again; nothing was changed.',
  });
}

export function toolUnknown(name: string, known: readonly string[]): AgentError {
  return new AgentError('TOOL_UNKNOWN', {
    message: `The model called "${name}", which this agent does not have.`,
    mend: `Known tools: ${known.join(', ') || 'none'}. A new one is added with defineAgent({ tools }).`,
  });
}

/** What was sent to a tool does not fit its input. The tool did not run. */
export function toolInputInvalid(name: string, problems: readonly string[]): AgentError {
  return new AgentError('TOOL_INPUT_INVALID', {
    message: `The input of "${name}" does not fit: ${problems.map((problem) => problem.replace(/\.$/, '')).join('; ')}.`,
    mend: 'Correct each of these and call the tool again; it did not run.',
  });
}

/** What a tool gave back is not JSON, or does not fit its declared output. The tool did run. */
export function toolOutputInvalid(name: string, problems: readonly string[]): AgentError {
  return new AgentError('TOOL_OUTPUT_INVALID', {
    message: `The result of "${name}" cannot be used: ${problems.join('; ')}.`,
    mend: 'The tool ran. Correct what it returns, or the output schema that it declares.',
  });
}

/** A tool threw, or was used where it cannot run. `reason` is its own message. */
export function toolFailed(name: string, reason: string, cause?: unknown): AgentError {
  return new AgentError('TOOL_FAILED', {
    message: `The tool "${name}" failed: ${reason}.`,
    mend: 'Read what the tool says, and change the call or the tool.',
    cause,
  });
}

/** The caller lacks permissions that a tool asks for. The tool did not run. */
export function toolPermissionDenied(name: string, missing: readonly string[]): AgentError {
  return new AgentError('TOOL_PERMISSION_DENIED', {
    message: `The caller may not use "${name}": it lacks ${missing.join(', ')}.`,
    mend: 'Give the principal these permissions, or call as one who has them; the tool did not run.',
  });
}

/** The same answer for a run that is not there and for one that is somebody else's. */
export function runNotFound(runId: string): AgentError {
  return new AgentError('RUN_NOT_FOUND', {
    message: `There is no run "${runId}" for this caller.`,
    mend: 'Check the id, and that the caller is the owner of the run. Run ids are made by the server.',
  });
}

/** The same answer for a wait that is not there and for one that is somebody else's. */
export function waitNotFound(waitId: string): AgentError {
  return new AgentError('WAIT_NOT_FOUND', {
    message: `There is no wait "${waitId}" for this caller.`,
    mend: 'List the open waits; an answered wait keeps its id and its answer.',
  });
}

/** No principal could be made out of the request: fail closed. */
export function principalRequired(reason: string): AgentError {
  return new AgentError('PRINCIPAL_REQUIRED', {
    message: `The caller of this request cannot be told: ${reason}.`,
    mend: 'Send the credentials that `authenticate` of the host expects.',
  });
}

/** A body that is not what its route reads: not JSON, or of another media type. */
export function httpRequestInvalid(seen: string, mend: string): AgentError {
  return new AgentError('HTTP_REQUEST_INVALID', { message: seen, mend });
}

export function httpRouteUnknown(method: string, path: string): AgentError {
  return new AgentError('HTTP_ROUTE_UNKNOWN', {
    message: `Nothing is served at ${method} ${path}.`,
    mend: 'Check path and method against the table of routes in the README of the host.',
  });
}

/** A host without `authenticate` answers this machine only: other names and web pages of other origins are refused. */
export function httpOriginRefused(header: string, seen: string): AgentError {
  return new AgentError('HTTP_ORIGIN_REFUSED', {
    message: `The header "${header}: ${seen}" does not name this machine, and the host has no \`authenticate\`.`,
    mend: 'Call it as localhost or 127.0.0.1, or give the host an `authenticate` function.',
  });
}

export function httpBodyTooLarge(limit: number): AgentError {
  return new AgentError('HTTP_BODY_TOO_LARGE', {
    message: `The body of this request is larger than ${limit} bytes.`,
    mend: 'Send less, or raise `limits.bodyBytes` of the host.',
  });
}

export function hostListenFailed(address: string, cause: unknown): AgentError {
  const seen = cause instanceof Error ? cause.message : String(cause);
  return new AgentError('HOST_LISTEN_FAILED', {
    message: `The HTTP host cannot listen on ${address}: ${seen}`,
    mend: 'Choose another port (0 takes a free one) or host, or stop what holds this one.',
    cause,
  });
}

export function hostClosing(): AgentError {
  return new AgentError('HOST_CLOSING', {
    message: 'This host is closing and takes no new requests.',
    mend: 'Send the request again; an event stream goes on from its last id.',
    retryable: true,
    retryAfterMs: 1_000,
  });
}

/** What a caller is told of a bug: nothing of its inside. The cause is for the log. */
export function internalError(cause: unknown): AgentError {
  return new AgentError('INTERNAL_ERROR', {
    message: 'Something went wrong inside the server.',
    mend: 'Try again; if it stays, give the time of this request to whoever runs the server.',
    cause,
  });
}

/** The command line looked for a composition and found none. */
export function configNotFound(looked: readonly string[], mend: string): AgentError {
  return new AgentError('CONFIG_NOT_FOUND', {
    message: `There is no Hexagent configuration. Looked for: ${looked.join(', ')}.`,
    mend,
  });
}

/** A configuration file is there, but it cannot be read as one. */
export function configInvalid(
  path: string,
  detail: { readonly seen: string; readonly mend: string; readonly cause?: unknown },
): AgentError {
  return new AgentError('CONFIG_INVALID', {
    message: `${path}: ${detail.seen}`,
    mend: detail.mend,
    cause: detail.cause,
  });
}

/** A store refused something that may not happen, or its database did. Nothing of it was written. */
export function storeFailed(operation: string, seen: string, cause?: unknown): AgentError {
  return new AgentError('STORE_FAILED', {
    message: `The store refused ${operation}: ${seen}. Nothing of it was written.`,
    mend: 'Sending the same again will not help. Report it with this message: either the framework or the store adapter is wrong.',
    cause,
  });
}

/** What an adapter knows about a model call that did not work. */
export type ModelFailure = {
  /** The address that was asked, without credentials; left out where there is none. */
  readonly at?: string;
  /** What happened, in the server's words where it gave some; no secrets. */
  readonly reason: string;
  /** A better mend than the code's own. */
  readonly mend?: string;
  /** A better answer than the code's own. */
  readonly retryable?: boolean;
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
};

function modelError(
  code: ErrorCode,
  failure: ModelFailure,
  otherwise: { readonly mend: string; readonly retryable: boolean },
): AgentError {
  const { at, reason, retryAfterMs, cause } = failure;
  return new AgentError(code, {
    message: at === undefined ? reason : `${at}: ${reason}`,
    mend: failure.mend ?? otherwise.mend,
    retryable: failure.retryable ?? otherwise.retryable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    cause,
  });
}

/** No connection to the model server could be made, or it broke before an answer. */
export function modelUnreachable(failure: ModelFailure): AgentError {
  return modelError('MODEL_UNREACHABLE', failure, {
    mend: 'Start the model server, or correct its address.',
    retryable: true,
  });
}

/** The model server was silent for longer than a limit allows. */
export function modelTimeout(failure: ModelFailure): AgentError {
  return modelError('MODEL_TIMEOUT', failure, {
    mend: 'Check the load of the model server, or raise the limit.',
    retryable: true,
  });
}

export function modelAuthentication(failure: ModelFailure): AgentError {
  return modelError('MODEL_AUTHENTICATION', failure, {
    mend: 'Check the API key and what it is allowed to do.',
    retryable: false,
  });
}

/** There is no such model, or no such endpoint, at the address. */
export function modelNotFound(failure: ModelFailure): AgentError {
  return modelError('MODEL_NOT_FOUND', failure, {
    mend: 'Check the name of the model and the address of the server.',
    retryable: false,
  });
}

/** The server refuses the request as it is; the same request will fail again. */
export function modelRequestInvalid(failure: ModelFailure): AgentError {
  return modelError('MODEL_REQUEST_INVALID', failure, {
    mend: 'Correct what the message names; the same request will fail again.',
    retryable: false,
  });
}

export function modelRateLimited(failure: ModelFailure): AgentError {
  return modelError('MODEL_RATE_LIMITED', failure, {
    mend: 'Wait and try again, or ask for a higher limit.',
    retryable: true,
  });
}

/** The server has too much to do, or is not ready yet. */
export function modelOverloaded(failure: ModelFailure): AgentError {
  return modelError('MODEL_OVERLOADED', failure, {
    mend: 'Wait and try again, or give the server more capacity.',
    retryable: true,
  });
}

/** The request does not fit the model's context window. Never retried as it is: compact it. */
export function modelContextOverflow(failure: ModelFailure): AgentError {
  return modelError('MODEL_CONTEXT_OVERFLOW', failure, {
    mend: 'Ask for fewer output tokens, or shorten the conversation.',
    retryable: false,
  });
}

/** The model, or a filter before it, declined to answer. */
export function modelRefused(failure: ModelFailure): AgentError {
  return modelError('MODEL_REFUSED', failure, {
    mend: 'Change the request; the refusal is an answer, not a fault.',
    retryable: false,
  });
}

/** What came back is not an answer in the format that was asked for. */
export function modelResponseInvalid(failure: ModelFailure): AgentError {
  return modelError('MODEL_RESPONSE_INVALID', failure, {
    mend: 'Check that the address is a model server and that its version is supported.',
    retryable: false,
  });
}

/** The answer stopped before its end. */
export function modelStreamTruncated(failure: ModelFailure): AgentError {
  return modelError('MODEL_STREAM_TRUNCATED', failure, {
    mend: 'Try again; if it happens often, look into the log of the model server.',
    retryable: true,
  });
}

/** The server failed while it was working on the request. */
export function modelFailed(failure: ModelFailure): AgentError {
  return modelError('MODEL_FAILED', failure, {
    mend: 'Try again; if it happens often, look into the log of the model server.',
    retryable: true,
  });
}

/** Two tools of one request have the same name, or the same name on the wire. */
export function toolNameCollision(problems: readonly Problem[]): AgentError {
  return new AgentError('TOOL_NAME_COLLISION', {
    message: `The tools have ${counted(problems)}:\n${listed(problems)}`,
    mend: 'Give each tool a name of its own: prefix the tools of a source. Nothing was sent to the model.',
  });
}

// ── composition ──────────────────────────────────────────────────────────────────────────────────

/** A durable agent without a store. */
export function persistenceMissing(agents: readonly string[]): AgentError {
  return new AgentError('PERSISTENCE_MISSING', {
    message: `${agents.map((name) => `"${name}"`).join(', ')} must be durable, and nothing is bound to DurableStore: StateRepository, SignalRepository and EvidenceRepository are missing.`,
    mend: 'Add a plugin that contributes "durability": npm install @hexagent/agent-kysely libsql, then kyselyStore({ url: "file:hexagent.db" }). There is no in-memory fallback outside tests.',
  });
}

export function modelMissing(agent: string): AgentError {
  return new AgentError('MODEL_MISSING', {
    message: `"${agent}" needs a model, and nothing is bound to the port "model".`,
    mend: 'Add a model plugin: npm install @hexagent/agent-vllm, then vllm({ baseUrl: "http://127.0.0.1:8000/v1" }).',
  });
}

export function pluginSetupFailed(name: string, cause: unknown): AgentError {
  return new AgentError('PLUGIN_SETUP_FAILED', {
    message: `The plugin "${name}" could not be set up: ${cause instanceof Error ? cause.message : String(cause)}`,
    mend: AgentError.is(cause) ? cause.mend : 'Look at the cause; nothing was started.',
    cause,
  });
}

export function portUnbound(port: string, asked: string): AgentError {
  return new AgentError('PORT_UNBOUND', {
    message: `${asked} asked for the port "${port}", and nothing is bound to it.`,
    mend: `Add a plugin that contributes "${port}", or provide: [bind(…)].`,
  });
}

export function appClosed(): AgentError {
  return new AgentError('APP_CLOSED', {
    message: 'The application is closed.',
    mend: 'Bootstrap a new one; a durable run goes on where it was.',
  });
}

// ── what a caller sends ──────────────────────────────────────────────────────────────────────────

export function agentUnknown(name: string, known: readonly string[]): AgentError {
  return new AgentError('AGENT_UNKNOWN', {
    message: `There is no agent "${name}".`,
    mend: `Known agents: ${known.join(', ') || 'none'}. Add it to bootstrap({ agents }).`,
  });
}

export function waitAlreadyResolved(
  waitId: string,
  wait: { readonly status: string; readonly decision?: string },
): AgentError {
  return new AgentError('WAIT_ALREADY_RESOLVED', {
    message:
      wait.decision === undefined
        ? `The wait "${waitId}" takes no answer any more: it is ${wait.status}.`
        : `The wait "${waitId}" was already answered with "${wait.decision}": the first answer wins.`,
    mend: 'Nothing was changed. Look at the run to see what it goes on with.',
  });
}

export function waitExpired(waitId: string): AgentError {
  return new AgentError('WAIT_EXPIRED', {
    message: `The wait "${waitId}" has expired.`,
    mend: 'Nothing was changed. List the waits of the run: the question may have been opened again.',
  });
}

export function waitDigestMismatch(waitId: string): AgentError {
  return new AgentError('WAIT_DIGEST_MISMATCH', {
    message: `The answer to "${waitId}" was given for other arguments than the ones that wait.`,
    mend: 'Show the wait again and answer what it asks now. Nothing was changed.',
  });
}

export function waitDecisionNotAllowed(
  waitId: string,
  decision: string,
  allowed: readonly string[],
): AgentError {
  return new AgentError('WAIT_DECISION_NOT_ALLOWED', {
    message: `"${decision}" is no answer to "${waitId}".`,
    mend: `Allowed: ${allowed.join(', ')}. Nothing was changed.`,
  });
}

export function signalNotAccepted(
  agent: string,
  kind: string,
  accepts: readonly string[],
): AgentError {
  return new AgentError('SIGNAL_NOT_ACCEPTED', {
    message: `"${agent}" does not accept "${kind}".`,
    mend: `It accepts: ${accepts.join(', ') || 'none'}. Add the kind to defineAgent({ accepts }).`,
  });
}

export function runEnded(runId: string): AgentError {
  return new AgentError('RUN_ENDED', {
    message: `The run "${runId}" has ended.`,
    mend: 'Start a new run with the same conversation id. A terminal run is never revived.',
  });
}

export function runNotDurable(subject: string, what: string): AgentError {
  return new AgentError('RUN_NOT_DURABLE', {
    message: `${subject} is stateless: it has no ${what}.`,
    mend: 'Say recovery: "action-boundary" on the agent and add a durable store.',
  });
}

export function conversationBusy(conversationId: string, runId: string): AgentError {
  return new AgentError('CONVERSATION_BUSY', {
    message: `The conversation "${conversationId}" has an open run: "${runId}".`,
    mend: 'Wait for it, send it a signal, or cancel it; then start again.',
  });
}

/** Also for a conversation of somebody else. */
export function conversationNotFound(conversationId: string): AgentError {
  return new AgentError('CONVERSATION_NOT_FOUND', {
    message: `There is no conversation "${conversationId}" for this caller.`,
    mend: 'Use another id, or leave it out: a new conversation is then opened.',
  });
}

export function cursorInvalid(after: unknown): AgentError {
  return new AgentError('CURSOR_INVALID', {
    message: `The cursor ${JSON.stringify(after)} is not a number of an event.`,
    mend: 'Quote the seq of the last event that was seen, or 0.',
  });
}

/** What a cursor quotes is no longer kept: its reader takes a snapshot and goes on from there. */
export function eventsPruned(
  after: number,
  kept: { readonly prunedThrough: number; readonly lastSeq: number },
): AgentError {
  return new AgentError('EVENTS_PRUNED', {
    message: `The events up to ${kept.prunedThrough} are no longer kept, and the cursor is ${after}.`,
    mend: `Read the run as it is now, and watch it from ${kept.lastSeq}.`,
  });
}

// ── the run ──────────────────────────────────────────────────────────────────────────────────────

export function maxStepsExceeded(limit: number): AgentError {
  return new AgentError('MAX_STEPS_EXCEEDED', {
    message: `The run has used its ${limit} model steps without a final answer.`,
    mend: 'Raise limits.maxSteps, or give the agent a smaller task.',
  });
}

export function maxToolCallsExceeded(limit: number, asked: number): AgentError {
  return new AgentError('MAX_TOOL_CALLS_EXCEEDED', {
    message: `The model asked for its ${asked}th tool call; the limit is ${limit}. Nothing of this batch was run.`,
    mend: 'Raise limits.maxToolCalls, or give the agent a smaller task.',
  });
}

export function maxTokensExceeded(limit: number, used: number): AgentError {
  return new AgentError('MAX_TOKENS_EXCEEDED', {
    message: `The run has used ${used} tokens; the limit is ${limit}.`,
    mend: 'Raise limits.maxTokens, or give the agent a smaller task.',
  });
}

export function usageUnavailable(limit: number): AgentError {
  return new AgentError('USAGE_UNAVAILABLE', {
    message: `limits.maxTokens is ${limit}, and the model does not say how many tokens it used.`,
    mend: 'Use a model server that reports usage, or leave the limit out.',
  });
}

export function runTimedOut(runId: string, timeoutMs: number): AgentError {
  return new AgentError('RUN_TIMEOUT', {
    message: `The run "${runId}" has worked for its ${timeoutMs} ms; waiting is not counted.`,
    mend: 'Raise limits.timeoutMs, or give the agent a smaller task.',
  });
}

/** The reason with which everything of a cancelled run is stopped. */
export function runCancelled(runId: string): AgentError {
  return new AgentError('RUN_CANCELLED', {
    message: `The run "${runId}" is being cancelled.`,
    mend: 'Stop the work and clean up.',
  });
}

export function approvalRejected(tool: string, comment: string | undefined): AgentError {
  return new AgentError('APPROVAL_REJECTED', {
    message: `The call of "${tool}" was rejected${comment === undefined ? '' : `: ${comment}`}.`,
    mend: 'It did not run. Try another way, or ask what would be acceptable.',
  });
}

export function outputInvalid(agent: string, problems: readonly string[]): AgentError {
  return new AgentError('OUTPUT_INVALID', {
    message: `The answer of "${agent}" does not fit its output: ${problems.join('; ')}.`,
    mend: 'Simplify the output schema, describe its fields, raise limits.maxOutputRetries, or use a model that supports structured output.',
  });
}

export function executeFailed(agent: string, cause: unknown): AgentError {
  return new AgentError('EXECUTE_FAILED', {
    message: `The execute of "${agent}" failed: ${cause instanceof Error ? cause.message : String(cause)}`,
    mend: 'Look at the cause.',
    cause,
  });
}

export function hookFailed(kind: string, cause: unknown): AgentError {
  return new AgentError('HOOK_FAILED', {
    message: `The hook for "${kind}" failed: ${cause instanceof Error ? cause.message : String(cause)}`,
    mend: 'Look at the cause. A hook shows items; it does not end the run with "final".',
    cause,
  });
}

export function toolSourceFailed(id: string, cause: unknown): AgentError {
  return new AgentError('TOOL_SOURCE_FAILED', {
    message: `The tool source "${id}" could not be opened: ${cause instanceof Error ? cause.message : String(cause)}`,
    mend: 'Check the source, or leave it out of defineAgent({ toolSources }).',
    cause,
  });
}

export function cancellationCleanupFailed(failed: readonly string[]): AgentError {
  return new AgentError('CANCELLATION_CLEANUP_FAILED', {
    message: `The run was cancelled, and a cleanup failed: ${failed.join('; ')}.`,
    mend: 'Put in order by hand what the cleanup names; the other cleanups were done.',
  });
}

export function recordCorrupt(runId: string, seen: string): AgentError {
  return new AgentError('RECORD_CORRUPT', {
    message: `What is stored of "${runId}" cannot be read: ${seen}.`,
    mend: 'Restore the database from a backup, or remove the run. Nothing was changed.',
  });
}

export function formatUnknown(seen: number, known: number): AgentError {
  return new AgentError('FORMAT_UNKNOWN', {
    message: `The run was stored in edition ${seen}; this version reads up to ${known}.`,
    mend: 'Upgrade the Hexagent packages of this process. Nothing was changed.',
  });
}

export function sealerMissing(place: string): AgentError {
  return new AgentError('RECORD_CORRUPT', {
    message: `"${place}" is sealed, and no sealer is bound.`,
    mend: 'Bind the Sealer that the record was written with.',
  });
}

// ── tools of a run ───────────────────────────────────────────────────────────────────────────────

export function toolTimeout(name: string, timeoutMs: number): AgentError {
  return new AgentError('TOOL_TIMEOUT', {
    message: `"${name}" did not answer within ${timeoutMs} ms.`,
    mend: 'Raise the timeoutMs of the tool, or ask it for less.',
  });
}

export function effectUnknown(name: string, cause: AgentError): AgentError {
  return new AgentError('EFFECT_UNKNOWN', {
    message: `It is not known whether "${name}" took effect: ${cause.message}`,
    mend: 'Look before you try again.',
    cause,
  });
}

// ── durability ───────────────────────────────────────────────────────────────────────────────────

export function runSuperseded(runId: string): AgentError {
  return new AgentError('RUN_SUPERSEDED', {
    message: `The run "${runId}" is in other hands now.`,
    mend: 'Follow it with watch, or resume it: its log goes on.',
  });
}

export function commitTooLarge(seen: string, limit: string): AgentError {
  return new AgentError('COMMIT_TOO_LARGE', {
    message: `A commit of ${seen} is above the limit of ${limit}; nothing was written.`,
    mend: 'Send less at once: fewer tool calls, smaller messages, or bind a BlobStore.',
  });
}
