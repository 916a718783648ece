import { AgentError } from '../base/error.ts';
import { inputInvalid, modelNotRecorded } from '../base/error-catalog.ts';
import { ERROR_CODES, type ErrorCode } from '../base/error-codes.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import type { AgentModel, ModelCapabilities, ModelEvent } from './agent-model.ts';
import {
  askedBy,
  CASSETTE_FORMAT,
  type Cassette,
  type CassetteStore,
  digestOf,
  type Recording,
  selectionKey,
} from './cassette.ts';
import { type RecordedModel, recordedModel } from './record.ts';
import { type Redaction, redactor } from './redact.ts';

/** A model that answers from a cassette. */
export interface ReplayedModel extends AgentModel {
  /** Recordings that nobody has asked for. */
  readonly unplayed: number;
}

/**
 * Plays a cassette: each recording once, for the request that it was made for, in whatever order requests come. Give the
 * same redaction as at recording.
 *
 * @throws AgentError `INPUT_INVALID` for a cassette of another format. A request that is not in it is `MODEL_NOT_RECORDED`.
 */
export function replayedModel(cassette: Cassette, redaction: Redaction = {}): ReplayedModel {
  if (cassette.format !== CASSETTE_FORMAT)
    throw inputInvalid('replayedModel', [
      {
        at: 'cassette.format',
        seen: `is ${JSON.stringify(cassette.format)}; this version plays ${CASSETTE_FORMAT}.`,
        mend: 'Record the cassette again.',
      },
    ]);
  const redact = redactor(redaction);
  const { id, capabilities, recordings } = cassette;
  const waiting = [...recordings];
  return {
    id,
    get unplayed() {
      return waiting.length;
    },
    capabilities: (selection) =>
      capabilities[selectionKey(selection)] ??
      (capabilities[selectionKey(undefined)] as ModelCapabilities),
    async *stream(request, { signal }) {
      signal.throwIfAborted();
      const asked = askedBy(request, redact);
      const digest = digestOf(asked);
      const at = waiting.findIndex((recording) => recording.digest === digest);
      if (at === -1) throw modelNotRecorded(whyNot(asked, { digest, waiting, recordings }));
      const [recording] = waiting.splice(at, 1) as [Recording];
      yield* played(recording, signal);
    },
  };
}

/**
 * A model for tests that ask a real one once: it plays the cassette of the store where there is one, and otherwise records
 * the given model into it.
 */
export async function withCassette(
  store: CassetteStore,
  live: () => AgentModel,
  redaction: Redaction = {},
): Promise<ReplayedModel | RecordedModel> {
  const cassette = await store.load();
  if (cassette !== undefined) return replayedModel(cassette, redaction);
  return recordedModel(live(), { ...redaction, save: (recorded) => store.save(recorded) });
}

async function* played(
  { batches, error }: Recording,
  signal: AbortSignal,
): AsyncGenerator<readonly ModelEvent[], void, void> {
  for (const batch of batches) {
    yield batch;
    if (batch.at(-1)?.type !== 'finish') signal.throwIfAborted();
  }
  if (error === undefined) return;
  const { code, ...detail } = error;
  const known = (ERROR_CODES as readonly string[]).includes(code);
  throw new AgentError(known ? (code as ErrorCode) : 'MODEL_FAILED', detail);
}

/** Names what differs from the recording that is nearest. */
function whyNot(
  asked: JsonObject,
  {
    digest,
    waiting,
    recordings,
  }: {
    readonly digest: string;
    readonly waiting: readonly Recording[];
    readonly recordings: readonly Recording[];
  },
): string {
  const times = recordings.filter((recording) => recording.digest === digest).length;
  if (times > 0) return `The cassette has this request ${times} times, and all have been played.`;
  if (recordings.length === 0) return 'The cassette is empty.';
  const compared = (waiting.length > 0 ? waiting : recordings).map(({ request }) =>
    differences(request, asked, ''),
  );
  // There is one at least.
  const [nearest] = compared.sort((left, right) => left.length - right.length) as [
    readonly string[],
  ];
  const shown = nearest.slice(0, MOST_SHOWN).join('; ');
  return `The cassette has no such request. From the nearest one it differs in ${nearest.length} places: ${shown}.`;
}

const MOST_SHOWN = 3;

/** Places in which two values differ, with both of them. */
function differences(
  recorded: JsonValue | undefined,
  asked: JsonValue | undefined,
  at: string,
): readonly string[] {
  if (Array.isArray(recorded) && Array.isArray(asked))
    return Array.from({ length: Math.max(recorded.length, asked.length) }, (_, index) =>
      differences(recorded[index], asked[index], `${at}[${index}]`),
    ).flat();
  if (isJsonObject(recorded) && isJsonObject(asked))
    return [...new Set([...Object.keys(recorded), ...Object.keys(asked)])].flatMap((key) =>
      differences(recorded[key], asked[key], at === '' ? key : `${at}.${key}`),
    );
  if (recorded === asked) return [];
  return [`${at} was ${clipped(recorded)} and is ${clipped(asked)}`];
}

function clipped(value: JsonValue | undefined): string {
  const text = value === undefined ? 'absent' : JSON.stringify(value);
  return text.length <= 80 ? text : `${text.slice(0, 80)}…`;
}
