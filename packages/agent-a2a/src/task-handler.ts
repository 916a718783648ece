import {
  type AgentCard,
  type CancelTaskRequest,
  type GetTaskRequest,
  type Message,
  type SendMessageRequest,
  type Task,
  TaskState,
} from '@a2a-js/sdk';
import {
  ExtendedAgentCardNotConfiguredError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import {
  type AgentDefinition,
  AgentError,
  type Caller,
  isTerminal,
  type RunGateway,
  type RunHandle,
  type RunId,
  type RunState,
  runIdOf,
  textOf,
  untilAborted,
} from '@hexagent/agent-core';
import { told } from './a2a-error.ts';
import { answersOf, metadataOf, partsOf } from './incoming.ts';
import { readRecord } from './run-record.ts';
import { taskOf, workingTask } from './task.ts';

export type TaskHandlerOptions = {
  readonly agent: AgentDefinition;
  readonly card: AgentCard;
  readonly gateway: RunGateway;
  readonly caller: Caller;
};

/** The operations of A2A over the gateway, for one caller. A task is a run, a context is a conversation. */
export function taskHandler(options: TaskHandlerOptions): A2ARequestHandler {
  const { card } = options;
  return {
    getAgentCard: async () => card,
    getAuthenticatedExtendedAgentCard: async () => {
      throw new ExtendedAgentCardNotConfiguredError();
    },
    sendMessage: (request) => told(() => sendMessage(request, options)),
    getTask: (request) => told(() => getTask(request, options)),
    cancelTask: (request) => told(() => cancelTask(request, options)),
    listTasks: async () => {
      throw new UnsupportedOperationError('This agent does not list its tasks.');
    },
    sendMessageStream: () => {
      throw new UnsupportedOperationError('This agent does not stream; send SendMessage.');
    },
    resubscribe: () => {
      throw new UnsupportedOperationError('This agent does not stream; ask with GetTask.');
    },
    createTaskPushNotificationConfig: noPush,
    getTaskPushNotificationConfig: noPush,
    listTaskPushNotificationConfigs: noPush,
    deleteTaskPushNotificationConfig: noPush,
  };
}

async function noPush(): Promise<never> {
  throw new PushNotificationNotSupportedError();
}

async function sendMessage(
  { message, configuration }: SendMessageRequest,
  options: TaskHandlerOptions,
): Promise<Task> {
  if (message === undefined) throw new RequestMalformedError('params.message is missing');
  if (configuration?.taskPushNotificationConfig !== undefined) {
    throw new PushNotificationNotSupportedError();
  }
  const atOnce = configuration?.returnImmediately === true;
  if (atOnce && !options.agent.durable) {
    throw new UnsupportedOperationError('This agent keeps no tasks: wait for its answer.');
  }
  const { handle, contextId } =
    message.taskId === '' ? await startTask(message, options) : await goOn(message, options);
  // The run outlives this request; what becomes of it is in its events.
  handle.result.catch(() => undefined);
  const address = { runId: handle.runId, contextId };
  const history = configuration?.historyLength === 0 ? [] : [said(message, address)];
  if (atOnce) {
    const state = TaskState.TASK_STATE_SUBMITTED;
    return workingTask(address, { state, at: Date.now(), history });
  }
  // A client that leaves first gets no answer. It has not cancelled: a run that is kept goes on.
  await untilAborted(handle.result, options.caller.signal);
  return taskOf(address, await readHandle(handle), history);
}

/** A new task. A message that is sent again under its id finds the task that it has started. */
async function startTask(
  message: Message,
  { agent, gateway, caller }: TaskHandlerOptions,
): Promise<{ readonly handle: RunHandle; readonly contextId: string }> {
  const { principal } = caller;
  const asked = message.contextId === '' ? crypto.randomUUID() : message.contextId;
  const handle = await gateway.start(
    agent.name,
    { message: partsOf(message), conversationId: asked, metadata: metadataOf(message) },
    {
      ...caller,
      requestKey: `a2a:${agent.name}:${principal.scope.userId ?? ''}:${message.messageId}`,
    },
  );
  const contextId = await conversationOf(handle.runId, gateway, caller);
  return { handle, contextId: contextId ?? asked };
}

/** The next message of a task: an answer to what it waits for, or a word to it while it works. */
async function goOn(
  message: Message,
  { agent, gateway, caller }: TaskHandlerOptions,
): Promise<{ readonly handle: RunHandle; readonly contextId: string }> {
  const state = await ownTask(message.taskId, { agent, gateway, caller });
  const { runId, conversationId } = state;
  if (message.contextId !== '' && message.contextId !== conversationId) {
    throw new RequestMalformedError(
      `contextId is "${message.contextId}", but task ${runId} belongs to "${conversationId}".`,
    );
  }
  if (isTerminal(state.status)) {
    throw new UnsupportedOperationError(`Task ${runId} is ${state.status}: start a new one.`);
  }
  if (state.status === 'interrupted') {
    const { waits } = await readRecord((after) => gateway.watch(runId, { after }, caller));
    for (const { waitId, resolution } of answersOf(message, waits)) {
      await gateway.resolve(waitId, resolution, caller);
    }
  } else {
    await gateway.signal(
      runId,
      {
        kind: 'user-message',
        payload: { text: textOf(partsOf(message)) },
        dedupeKey: `a2a:${message.messageId}`,
      },
      caller,
    );
  }
  const handle = await gateway.resume(runId, caller);
  return { handle, contextId: conversationId };
}

async function getTask(
  { id }: GetTaskRequest,
  { agent, gateway, caller }: TaskHandlerOptions,
): Promise<Task> {
  const state = await ownTask(id, { agent, gateway, caller });
  const address = { runId: state.runId, contextId: state.conversationId };
  if (state.status !== 'interrupted' && !isTerminal(state.status)) {
    const working =
      state.status === 'created' ? TaskState.TASK_STATE_SUBMITTED : TaskState.TASK_STATE_WORKING;
    return workingTask(address, { state: working, at: state.statusAt, history: [] });
  }
  const watch = (after: number) => gateway.watch(state.runId, { after }, caller);
  return taskOf(address, await readRecord(watch), []);
}

async function cancelTask(
  { id }: CancelTaskRequest,
  { agent, gateway, caller }: TaskHandlerOptions,
): Promise<Task> {
  const state = await ownTask(id, { agent, gateway, caller });
  const { runId, conversationId: contextId } = state;
  if (state.status === 'completed' || state.status === 'failed') {
    throw new TaskNotCancelableError(`Task ${runId} is ${state.status}.`);
  }
  if (state.status !== 'cancelled') await gateway.cancel(runId, undefined, caller);
  const handle = await gateway.resume(runId, caller);
  await untilAborted(handle.result, caller.signal);
  return taskOf({ runId, contextId }, await readHandle(handle), []);
}

/** A task of this agent and this caller; another agent's looks like one that is not there. */
async function ownTask(
  id: string,
  { agent, gateway, caller }: Pick<TaskHandlerOptions, 'agent' | 'gateway' | 'caller'>,
): Promise<RunState> {
  const state = await gateway.get(runIdOf(id), caller);
  if (state.agent !== agent.name) throw new TaskNotFoundError(`There is no task "${id}".`);
  return state;
}

/** The conversation of a run that is kept; a stateless one keeps none. */
async function conversationOf(
  runId: RunId,
  gateway: RunGateway,
  caller: Caller,
): Promise<string | undefined> {
  try {
    return (await gateway.get(runId, caller)).conversationId;
  } catch (error) {
    const kept =
      !AgentError.is(error) || !['RUN_NOT_FOUND', 'RUN_NOT_DURABLE'].includes(error.code);
    if (kept) throw error;
    return undefined;
  }
}

function readHandle(handle: RunHandle): ReturnType<typeof readRecord> {
  return readRecord(async function* (after) {
    for await (const event of handle.events({ after })) yield [event];
  });
}

/** The client's message as part of the history of its task. */
function said(
  message: Message,
  { runId, contextId }: { runId: string; contextId: string },
): Message {
  return { ...message, taskId: runId, contextId };
}
