import type { Message, RunAgentInput } from '@ag-ui/core';
import {
  type AgentDescription,
  inputInvalid,
  isJsonObject,
  type JsonObject,
  type ModelSelection,
  type Part,
  type Problem,
  type RunInput,
} from '@hexagent/agent-core';
import { CONTEXT_FIELD } from '../projection/wire-content.ts';
import { checkField, isAbsent, isFull, kindOf, type Problems, toldProblems } from './checks.ts';
import { historyOf, partsOf } from './core-messages.ts';

/** Fields of `forwardedProps` that are read; every other one is left alone. */
export const FORWARDED = ['selection', 'metadata'] as const;
export type Forwarded = (typeof FORWARDED)[number];

/** The keys under which a run keeps what its client calls it, and the messages that started it. */
export const RUN_KEYS = { runId: 'ag-ui.runId', messageIds: 'ag-ui.messageIds' } as const;

export type UserMessage = Extract<Message, { role: 'user' }>;

/** The messages of the user behind everything that was answered, but for those that a run has taken already. */
export function newUserMessages(
  messages: readonly Message[],
  known: ReadonlySet<string> = new Set(),
): readonly UserMessage[] {
  const fresh: UserMessage[] = [];
  for (const message of [...messages].reverse()) {
    if (message.role === 'assistant' || message.role === 'tool') break;
    if (message.role === 'user' && !known.has(message.id)) fresh.push(message);
  }
  return fresh.reverse();
}

/**
 * The input of a run of an agent that keeps its conversations: nothing of the client's list is taken but what the user says now.
 *
 * @param taken ids of messages that the conversation has already: the run keeps them with its own, so that no later one takes them
 * @throws AgentError `INPUT_INVALID` with every problem at once.
 */
export function durableInput(
  input: RunAgentInput,
  {
    fresh,
    taken = new Set(),
    forwarded,
    agent,
  }: {
    readonly fresh: readonly UserMessage[];
    readonly taken?: ReadonlySet<string>;
    readonly forwarded: readonly Forwarded[];
    readonly agent: Pick<AgentDescription, 'tools'>;
  },
): RunInput {
  const { threadId, parentRunId, tools } = input;
  const problems: Problems = [];
  const served = new Set(agent.tools.map(({ name }) => name));
  tools.forEach(({ name }, index) => {
    if (served.has(name)) problems.push(nameTaken(index));
  });
  if (fresh.length > MOST_NEW) problems.push(tooMuchNew(fresh.length));
  const { selection, metadata } = commonInput(input, { fresh, forwarded, problems });
  return {
    message: [...contextParts(input), ...fresh.flatMap(({ content }) => partsOf(content))],
    conversationId: threadId,
    ...(parentRunId === undefined
      ? {}
      : { parentRunId: parentRunId as NonNullable<RunInput['parentRunId']> }),
    ...stateOf(input),
    ...selection,
    ...(tools.length === 0
      ? {}
      : {
          clientTools: tools.map(({ name, description, parameters }) => ({
            name,
            description,
            parameters: isAbsent(parameters) ? NO_ARGUMENTS : parameters,
          })),
        }),
    metadata: {
      ...metadata,
      [RUN_KEYS.runId]: input.runId,
      [RUN_KEYS.messageIds]: JSON.stringify([...taken, ...fresh.map(({ id }) => id)]),
    },
  };
}

/** The input of a run of an agent that keeps nothing: the client's list is the conversation. */
export function statelessInput(
  input: RunAgentInput,
  { forwarded }: { readonly forwarded: readonly Forwarded[] },
): RunInput {
  const fresh = newUserMessages(input.messages);
  const { selection, metadata } = commonInput(input, { fresh, forwarded, problems: [] });
  const last = fresh.at(-1);
  const before = input.messages.slice(0, last === undefined ? 0 : input.messages.lastIndexOf(last));
  const history = historyOf(before);
  return {
    message: [...contextParts(input), ...partsOf(last?.content ?? '')],
    conversationId: input.threadId,
    ...(history.length === 0 ? {} : { history }),
    ...stateOf(input),
    ...selection,
    ...(input.tools.length === 0
      ? {}
      : {
          clientTools: input.tools.map(({ name, description }) => ({
            name,
            description,
            parameters: NO_ARGUMENTS,
          })),
        }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

const NO_ARGUMENTS: JsonObject = { type: 'object', properties: {} };

function commonInput(
  { forwardedProps }: RunAgentInput,
  {
    fresh,
    forwarded,
    problems,
  }: {
    readonly fresh: readonly UserMessage[];
    readonly forwarded: readonly Forwarded[];
    readonly problems: Problems;
  },
): { readonly selection: Pick<RunInput, 'selection'>; readonly metadata: RunInput['metadata'] } {
  const props: JsonObject = isJsonObject(forwardedProps) ? forwardedProps : {};
  const propOf = (field: Forwarded): unknown =>
    forwarded.includes(field) ? props[field] : undefined;
  if (fresh.length === 0) problems.push(NOTHING_NEW);
  const selection = propOf('selection');
  const metadata = propOf('metadata');
  checkTexts(problems, selection, {
    at: 'forwardedProps.selection',
    known: ['provider', 'model', 'profile'],
  });
  checkTexts(problems, metadata, { at: 'forwardedProps.metadata', known: undefined });
  if (problems.length > 0) throw inputInvalid('The run input', toldProblems(problems));
  return {
    selection: isAbsent(selection) ? {} : { selection: selection as ModelSelection },
    metadata: isAbsent(metadata) ? undefined : (metadata as Readonly<Record<string, string>>),
  };
}

const NOTHING_NEW: Problem = {
  at: 'messages',
  seen: 'ends without a new message of the user.',
  mend: 'Add a message of the role "user", or answer what the thread waits for with `resume` or a tool message.',
};

/** A server's tool is never taken over by a client: who runs a call would be a matter of luck. */
function nameTaken(index: number): Problem {
  return {
    at: `tools[${index}].name`,
    seen: 'is the name of a tool of the agent.',
    mend: 'Give the tool of the client another name.',
  };
}

/** New messages of the user that one request may bring: each of them is kept, or given to the run, by itself. */
export const MOST_NEW = 100;

export function tooMuchNew(count: number): Problem {
  return {
    at: 'messages',
    seen: `ends with ${count} new messages of the user.`,
    mend: `Send at most ${MOST_NEW} at once.`,
  };
}

function checkTexts(
  problems: Problems,
  value: unknown,
  { at, known }: { readonly at: string; readonly known: readonly string[] | undefined },
): void {
  checkField(problems, value, { at, kind: 'an object', optional: true });
  for (const [key, text] of Object.entries(isJsonObject(value) ? value : {})) {
    if (isFull(problems)) return;
    if (typeof text !== 'string')
      problems.push({ at: `${at}.${key}`, seen: `is ${kindOf(text)}.`, mend: 'Send a text.' });
    if (known !== undefined && !known.includes(key))
      problems.push({
        at: `${at}.${key}`,
        seen: 'is not known.',
        mend: `Known: ${known.join(', ')}.`,
      });
  }
}

/** What the application tells beside the message: a part of its own, so that nobody takes it for words of the user. */
function contextParts({ context }: RunAgentInput): readonly Part[] {
  if (context.length === 0) return [];
  const told = context.map(({ description, value }) => ({ description, value }));
  return [{ type: 'data', data: { [CONTEXT_FIELD]: told } }];
}

function stateOf({ state }: RunAgentInput): Pick<RunInput, 'state'> {
  return isJsonObject(state) && Object.keys(state).length > 0 ? { state } : {};
}
