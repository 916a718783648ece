import type { RunAgentInput } from '@ag-ui/core';
import { inputInvalid, isJsonObject, type JsonObject } from '@hexagent/agent-core';
import {
  checkEach,
  checkField,
  checkId,
  checkNesting,
  checkWord,
  isAbsent,
  kindOf,
  type Problems,
  toldProblems,
} from './checks.ts';
import { checkMessage } from './message-problems.ts';

/** A thread is a conversation: its id has the form of a conversation's. */
const THREAD_ID = /^[A-Za-z0-9._~:@-]{1,256}$/;

/**
 * The input of a run (AG-UI 1.0, `RunAgentInput`), with absent lists filled in. Fields that the protocol does not have are left alone.
 *
 * @throws AgentError `INPUT_INVALID` with every problem at once, up to fifty.
 */
export function parseInput(body: unknown): RunAgentInput {
  if (!isJsonObject(body))
    throw inputInvalid('The run input', [
      { at: 'input', seen: `is ${kindOf(body)}.`, mend: 'Send a RunAgentInput as a JSON object.' },
    ]);
  const problems = problemsOf(body);
  if (problems.length > 0) throw inputInvalid('The run input', toldProblems(problems));
  const { parentRunId, state, forwardedProps, resume } = body;
  // Every field has been looked at above, by name and kind.
  return {
    threadId: body['threadId'],
    runId: body['runId'],
    messages: body['messages'],
    tools: body['tools'] ?? [],
    context: body['context'] ?? [],
    ...(isAbsent(parentRunId) ? {} : { parentRunId }),
    ...(isAbsent(state) ? {} : { state }),
    ...(isAbsent(forwardedProps) ? {} : { forwardedProps }),
    ...(isAbsent(resume) ? {} : { resume }),
  } as unknown as RunAgentInput;
}

function problemsOf(body: JsonObject): Problems {
  const problems: Problems = [];
  checkNesting(problems, body, 'input');
  if (problems.length > 0) return problems;
  const { threadId, state } = body;
  if (typeof threadId !== 'string' || !THREAD_ID.test(threadId))
    problems.push({
      at: 'threadId',
      seen: `is ${typeof threadId === 'string' ? 'a text of another form' : kindOf(threadId)}.`,
      mend: 'Use 1 to 256 letters, digits or ". _ ~ : @ -".',
    });
  checkId(problems, body['runId'], 'runId');
  if (!isAbsent(body['parentRunId'])) checkId(problems, body['parentRunId'], 'parentRunId');
  checkField(problems, state, { at: 'state', kind: 'an object', optional: true });
  checkField(problems, body['forwardedProps'], {
    at: 'forwardedProps',
    kind: 'an object',
    optional: true,
  });
  eachOf(problems, body['messages'], { at: 'messages', optional: false }, checkMessage);
  eachOf(problems, body['tools'], { at: 'tools', optional: true }, checkTool);
  eachOf(problems, body['context'], { at: 'context', optional: true }, checkContext);
  eachOf(problems, body['resume'], { at: 'resume', optional: true }, checkResume);
  checkTwice(problems, body['resume'], {
    at: 'resume',
    key: 'interruptId',
    mend: 'Send one entry for each interrupt.',
  });
  checkTwice(problems, body['tools'], {
    at: 'tools',
    key: 'name',
    mend: 'Give each tool a name of its own.',
  });
  return problems;
}

function eachOf(
  problems: Problems,
  list: unknown,
  { at, optional }: { readonly at: string; readonly optional: boolean },
  check: (problems: Problems, item: unknown, at: string) => void,
): void {
  if (!Array.isArray(list)) {
    checkField(problems, list, { at, kind: 'a list', optional });
    return;
  }
  checkEach(problems, list, (item, index) => {
    check(problems, item, `${at}[${index}]`);
  });
}

function checkTool(problems: Problems, tool: unknown, at: string): void {
  const known: JsonObject = isJsonObject(tool) ? tool : {};
  checkId(problems, known['name'], `${at}.name`);
  checkField(problems, known['description'], { at: `${at}.description`, kind: 'a text' });
  checkField(problems, known['parameters'], {
    at: `${at}.parameters`,
    kind: 'an object',
    optional: true,
  });
}

function checkContext(problems: Problems, item: unknown, at: string): void {
  const known: JsonObject = isJsonObject(item) ? item : {};
  checkField(problems, known['description'], { at: `${at}.description`, kind: 'a text' });
  checkField(problems, known['value'], { at: `${at}.value`, kind: 'a text' });
}

function checkResume(problems: Problems, entry: unknown, at: string): void {
  const known: JsonObject = isJsonObject(entry) ? entry : {};
  checkId(problems, known['interruptId'], `${at}.interruptId`);
  checkWord(problems, known['status'], { at: `${at}.status`, words: ['resolved', 'cancelled'] });
}

/** Which of two answers to one question is meant, or of two tools of one name, nobody can tell. */
function checkTwice(
  problems: Problems,
  list: unknown,
  { at, key, mend }: { readonly at: string; readonly key: string; readonly mend: string },
): void {
  if (!Array.isArray(list)) return;
  const seen = new Set<unknown>();
  checkEach(problems, list, (item, index) => {
    const value = isJsonObject(item) ? item[key] : undefined;
    if (value !== undefined && seen.has(value))
      problems.push({ at: `${at}[${index}].${key}`, seen: 'is there twice.', mend });
    seen.add(value);
  });
}
