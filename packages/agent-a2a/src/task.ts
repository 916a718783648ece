import {
  type Part as A2aPart,
  type Artifact,
  type Message,
  Role,
  type Task,
  TaskState,
  type TaskStatus,
} from '@a2a-js/sdk';
import type { JsonValue, Part, Wait } from '@hexagent/agent-core';
import type { RunRecord } from './run-record.ts';

export type TaskAddress = { readonly runId: string; readonly contextId: string };

/** A run that goes on. */
export function workingTask(
  { runId, contextId }: TaskAddress,
  {
    state,
    at,
    history,
  }: { readonly state: TaskState; readonly at: number; readonly history: readonly Message[] },
): Task {
  const status = { state, message: undefined, timestamp: timeOf(at) };
  return {
    id: runId,
    contextId,
    status,
    artifacts: [],
    history: [...history],
    metadata: undefined,
  };
}

/** A run at rest as a task: its questions, its failure or its answer. */
export function taskOf(address: TaskAddress, record: RunRecord, history: readonly Message[]): Task {
  return {
    id: address.runId,
    contextId: address.contextId,
    status: statusOf(address, record),
    artifacts: artifactsOf(record),
    history: [...history],
    metadata: undefined,
  };
}

function statusOf(address: TaskAddress, { outcome, waits, text, at }: RunRecord): TaskStatus {
  const status = (state: TaskState, parts: readonly A2aPart[] = []): TaskStatus => ({
    state,
    timestamp: timeOf(at),
    message: parts.length === 0 ? undefined : agentMessage(address, parts),
  });
  if (outcome === undefined) {
    const authOnly = waits.length > 0 && waits.every(({ kind }) => kind === 'auth');
    return status(
      authOnly ? TaskState.TASK_STATE_AUTH_REQUIRED : TaskState.TASK_STATE_INPUT_REQUIRED,
      [...(text === '' ? [] : [textPart(text)]), ...waits.flatMap(questionOf)],
    );
  }
  if (outcome.kind === 'completed') return status(TaskState.TASK_STATE_COMPLETED);
  if (outcome.kind === 'cancelled') {
    const { reason } = outcome;
    return status(TaskState.TASK_STATE_CANCELED, reason === undefined ? [] : [textPart(reason)]);
  }
  const { code, message, mend } = outcome.error;
  return status(TaskState.TASK_STATE_FAILED, [
    textPart(`${message} ${mend}`),
    dataPart({ error: { code, message, mend } }),
  ]);
}

/** A question for people, and beside it what a program needs to answer it. */
function questionOf(wait: Wait): readonly A2aPart[] {
  const { id, kind, prompt, allowed, digest } = wait;
  return [
    textPart(questionText(wait)),
    dataPart({ waitId: id, kind, prompt, allowed: [...allowed], digest }),
  ];
}

function questionText({ kind, prompt, allowed }: Wait): string {
  const words = [prompt.message, prompt.question].find((text) => typeof text === 'string');
  if (typeof words === 'string') return words;
  const tool = [prompt.tool, prompt.toolName].find((name) => typeof name === 'string');
  return `Waiting for ${kind}${tool === undefined ? '' : ` of ${tool}`}: ${allowed.join(', ')}.`;
}

function artifactsOf({ artifacts, outcome, text }: RunRecord): Artifact[] {
  const own = artifacts.map(({ id, name, parts }) => artifact(id, name, parts.map(partOf)));
  if (outcome?.kind !== 'completed') return own;
  const output = outcome.output;
  const parts = [
    ...(text === '' ? [] : [textPart(text)]),
    ...(output === undefined || typeof output === 'string' ? [] : [dataPart(output)]),
  ];
  return parts.length === 0 ? own : [...own, artifact('answer', 'answer', parts)];
}

function artifact(artifactId: string, name: string, parts: A2aPart[]): Artifact {
  return { artifactId, name, description: '', parts, metadata: undefined, extensions: [] };
}

function agentMessage({ runId, contextId }: TaskAddress, parts: readonly A2aPart[]): Message {
  return {
    messageId: `${runId}.status`,
    contextId,
    taskId: runId,
    role: Role.ROLE_AGENT,
    parts: [...parts],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

function partOf(part: Part): A2aPart {
  if (part.type === 'text' || part.type === 'reasoning') return textPart(part.text);
  if (part.type === 'data') return dataPart(part.data);
  if (part.type === 'media' && part.source.kind === 'url') {
    return {
      ...textPart(''),
      content: { $case: 'url', value: part.source.url },
      mediaType: part.mediaType,
    };
  }
  if (part.type === 'media' && part.source.kind === 'inline') {
    const value = Buffer.from(part.source.base64, 'base64');
    return { ...textPart(''), content: { $case: 'raw', value }, mediaType: part.mediaType };
  }
  return dataPart(JSON.parse(JSON.stringify(part)));
}

function textPart(value: string): A2aPart {
  return {
    content: { $case: 'text', value },
    metadata: undefined,
    filename: '',
    mediaType: 'text/plain',
  };
}

function dataPart(value: JsonValue): A2aPart {
  return {
    content: { $case: 'data', value },
    metadata: undefined,
    filename: '',
    mediaType: 'application/json',
  };
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}
