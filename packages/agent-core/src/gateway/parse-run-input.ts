import { inputInvalid, type Problem } from '../base/error-catalog.ts';
import { isJsonObject, type JsonValue } from '../base/json.ts';
import { toJson } from '../base/to-json.ts';
import type { TextPart } from '../vocabulary/message.ts';
import { selectionProblems } from '../vocabulary/model-selection.ts';
import { ADMISSIONS, type RunInput } from '../vocabulary/run-input.ts';
import { sizeProblems } from './given.ts';
import { historyProblems, isTextTurn, messageProblems, shown } from './message-problems.ts';

const FIELDS = [
  'message',
  'conversationId',
  'admission',
  'parentRunId',
  'history',
  'clientTools',
  'selection',
  'state',
  'metadata',
  'dependencies',
];
/** The most that an input may be, in characters of its JSON text: it is stored whole, and its message once more. */
const MAX_INPUT = 4 * 1_048_576;
/** What is written again with every commit of the run, in characters of its JSON text. */
const MAX_OF = { metadata: 16_384, state: 262_144 };
const ID = /^[A-Za-z0-9._~:@-]{1,256}$/;

/**
 * The input of a run as the framework takes it, checked once at the edge: a copy as JSON, but for plain texts, where there is nothing to lose.
 *
 * @throws AgentError `INPUT_INVALID` with every problem at once; nothing was started.
 */
export function parseRunInput(input: unknown): RunInput {
  if (typeof input === 'object' && input !== null && isPlain(input as RunInput))
    return input as RunInput;
  const problems = isJsonObject(input)
    ? problemsOf(input)
    : [{ at: 'input', seen: 'is not an object.', mend: 'Send { "message": "…" }.' }];
  const copy = toJson(input);
  if (!copy.ok)
    problems.push({ at: 'input', seen: `${copy.problem}.`, mend: 'Send JSON values only.' });
  else problems.push(...tooLarge(copy.value));
  if (problems.length > 0 || !copy.ok) throw inputInvalid('The run input', problems);
  return copy.value as unknown as RunInput;
}

/** The common case, decided without a list: a text, and perhaps a history of texts. Long histories come with every run. */
function isPlain(input: RunInput): boolean {
  if (typeof input.message !== 'string' || input.message.trim() === '') return false;
  for (const key in input) if (key !== 'message' && key !== 'history') return false;
  const { history = [] } = input;
  if (!Array.isArray(history)) return false;
  let { length } = input.message;
  for (const turn of history) {
    if (!isTextTurn(turn)) return false;
    for (const part of turn.parts) length += (part as TextPart).text.length;
  }
  return length <= MAX_INPUT;
}

function tooLarge(input: JsonValue): readonly Problem[] {
  const parts = isJsonObject(input) ? input : {};
  return [
    ...sizeProblems(input, { at: 'input', most: MAX_INPUT }),
    ...Object.entries(MAX_OF).flatMap(([field, most]) =>
      sizeProblems(parts[field] ?? null, { at: `input.${field}`, most }),
    ),
  ];
}

function problemsOf(input: Readonly<Record<string, unknown>>): Problem[] {
  const problems: Problem[] = [];
  for (const key of Object.keys(input)) {
    if (!FIELDS.includes(key))
      problems.push({
        at: `input.${key}`,
        seen: 'is not a field of a run input.',
        mend: `Known fields: ${FIELDS.join(', ')}. A decision goes through resolve, never here.`,
      });
  }
  problems.push(...messageProblems(input['message'], 'input.message'));
  for (const field of ['conversationId', 'parentRunId']) {
    const value = input[field];
    if (value !== undefined && (typeof value !== 'string' || !ID.test(value))) {
      problems.push({
        at: `input.${field}`,
        seen: `is ${shown(value)}.`,
        mend: 'Use 1 to 256 letters, digits or ". _ ~ : @ -".',
      });
    }
  }
  const { admission } = input;
  if (admission !== undefined && !(ADMISSIONS as readonly unknown[]).includes(admission))
    problems.push({
      at: 'input.admission',
      seen: `is ${shown(admission)}.`,
      mend: `Choose one of: ${ADMISSIONS.join(', ')}.`,
    });
  problems.push(...historyProblems(input['history'], 'input.history'));
  problems.push(...clientToolProblems(input['clientTools']));
  if (input['selection'] !== undefined)
    problems.push(...selectionProblems(input['selection'], 'input.selection'));
  for (const field of ['state', 'metadata', 'dependencies']) {
    const value = input[field];
    if (value !== undefined && !isJsonObject(value))
      problems.push({
        at: `input.${field}`,
        seen: `is ${shown(value)}.`,
        mend: 'Send an object.',
      });
  }
  for (const [key, value] of Object.entries(
    isJsonObject(input['metadata']) ? input['metadata'] : {},
  )) {
    const at = `input.metadata.${key}`;
    if (typeof value !== 'string')
      problems.push({
        at,
        seen: `is ${shown(value)}.`,
        mend: 'Metadata is text to text.',
      });
    if (key.startsWith('hexagent.'))
      problems.push({
        at,
        seen: 'is a key of the framework.',
        mend: 'Choose a key without "hexagent.".',
      });
  }
  return problems;
}

function clientToolProblems(tools: unknown): readonly Problem[] {
  if (tools === undefined) return [];
  if (!Array.isArray(tools))
    return [{ at: 'input.clientTools', seen: 'is not a list.', mend: 'Send a list of tools.' }];
  return tools.flatMap((tool: unknown, index): readonly Problem[] => {
    const fits =
      isJsonObject(tool) &&
      typeof tool['name'] === 'string' &&
      typeof tool['description'] === 'string' &&
      isJsonObject(tool['parameters']);
    return fits
      ? []
      : [
          {
            at: `input.clientTools[${index}]`,
            seen: 'is not a tool.',
            mend: 'Send { "name", "description", "parameters": JSON Schema }.',
          },
        ];
  });
}
