import { AgentError } from '../base/error.ts';
import type { AgentModel, ModelCapabilities, ModelEvent } from './agent-model.ts';
import {
  askedBy,
  CASSETTE_FORMAT,
  type Cassette,
  digestOf,
  type Recording,
  redactedEvents,
  selectionKey,
} from './cassette.ts';
import { delegate } from './delegate.ts';
import { type Redaction, redactor } from './redact.ts';
import { type StreamEnd, wrappedStream } from './wrapped-stream.ts';

/** A model that keeps what it is asked and what it answers. */
export interface RecordedModel extends AgentModel {
  /** What has been recorded so far. */
  cassette(): Cassette;
  /** Resolves once everything so far is saved; rejects with what went wrong. */
  saved(): Promise<void>;
}

export type RecordOptions = Redaction & {
  /** Called with the whole cassette after each call, one at a time. */
  readonly save?: (cassette: Cassette) => Promise<void>;
};

/**
 * Records every call of a model that comes to its end, well or with an `AgentError`; one that is left or aborted is none.
 * Secrets are taken out before anything is kept.
 */
export function recordedModel(model: AgentModel, options: RecordOptions = {}): RecordedModel {
  const { save, ...redaction } = options;
  const redact = redactor(redaction);
  const recordings: Recording[] = [];
  const capabilities: Record<string, ModelCapabilities> = {};
  let saving: Promise<void> = Promise.resolve();
  const cassette = (): Cassette => ({
    format: CASSETTE_FORMAT,
    id: model.id,
    capabilities: { [selectionKey(undefined)]: model.capabilities(), ...capabilities },
    recordings: [...recordings],
  });
  const inner = delegate(model, {
    stream: (request, stop) => {
      const batches: (readonly ModelEvent[])[] = [];
      return wrappedStream(stop, {
        open: () => model.stream(request, stop)[Symbol.asyncIterator](),
        seen: (batch) => {
          batches.push(batch);
          return batch;
        },
        ended: (end) => {
          const failure = failureOf(end, stop.signal.aborted, redact.text);
          if (failure === 'none') return undefined;
          const asked = askedBy(request, redact);
          recordings.push({
            digest: digestOf(asked),
            request: asked,
            batches: redactedEvents(batches, redact),
            ...(failure === undefined ? {} : { error: failure }),
          });
          if (save === undefined) return undefined;
          saving = saving.then(() => save(cassette()));
          saving.catch(() => undefined);
          return undefined;
        },
      });
    },
  });
  return {
    ...inner,
    capabilities: (selection) => {
      const known = model.capabilities(selection);
      capabilities[selectionKey(selection)] = known;
      return known;
    },
    cassette,
    saved: () => saving,
  };
}

/** `none`: it did not come to its end. */
function failureOf(
  end: StreamEnd,
  isAborted: boolean,
  clean: (text: string) => string,
): Recording['error'] | 'none' {
  if (end.kind === 'left' || isAborted) return 'none';
  if (end.kind === 'finished') return undefined;
  if (!AgentError.is(end.error)) return 'none';
  const { code, message, mend, retryable, retryAfterMs } = end.error;
  return {
    code,
    message: clean(message),
    mend: clean(mend),
    retryable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}
