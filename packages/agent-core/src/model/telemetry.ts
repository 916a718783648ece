import { type Clock, type Instant, systemClock } from '../base/clock.ts';
import { AgentError } from '../base/error.ts';
import type { JsonObject } from '../base/json.ts';
import type { Observer } from '../events/observer.ts';
import type { ModelSelection } from '../vocabulary/model-selection.ts';
import type { Usage } from '../vocabulary/usage.ts';
import type { AgentModel, ModelRequest } from './agent-model.ts';
import { furtherTries } from './call-notes.ts';
import { delegate } from './delegate.ts';
import { type StreamEnd, wrappedStream } from './wrapped-stream.ts';

/** One call of a model, when it is over. No content: neither what was asked nor what was answered. */
export type ModelCall = {
  readonly requestId: string;
  /** The `id` of the model that was called. */
  readonly id: string;
  readonly selection?: ModelSelection;
  readonly startedAt: Instant;
  readonly durationMs: number;
  /** Until the first event. */
  readonly firstEventMs?: number;
  /** Requests that were made for it: more than one where the model was asked again, or another one was. */
  readonly attempts: number;
  /** `left`: its reader went before the end; `aborted`: its signal was. */
  readonly outcome: 'finished' | 'failed' | 'aborted' | 'left';
  readonly finish?: string;
  readonly usage?: Usage;
  /** Who has answered. */
  readonly model?: string;
  readonly provider?: string;
  /** The code of an `AgentError`, or `UNKNOWN`. */
  readonly errorCode?: string;
};

export type ModelTelemetry = {
  /** Called once for each call; what it throws is let go. */
  readonly called: (call: ModelCall) => void;
};

/** A model that tells of each of its calls when it is over: to a function, or as a span to an `Observer`. */
export function withTelemetry(
  model: AgentModel,
  sink: ModelTelemetry | Observer,
  { clock = systemClock }: { readonly clock?: Clock } = {},
): AgentModel {
  return delegate(model, {
    stream: (request, stop) => {
      const before = furtherTries(request);
      const startedAt = clock.now();
      const begun = clock.monotonic();
      let firstEventMs: number | undefined;
      let tell: (call: ModelCall, error?: unknown) => void = () => undefined;
      return wrappedStream(stop, {
        open: () => {
          tell = teller(sink, model, request);
          return model.stream(request, stop)[Symbol.asyncIterator]();
        },
        seen: (batch) => {
          firstEventMs ??= clock.monotonic() - begun;
          return batch;
        },
        ended: (end) => {
          const call: ModelCall = {
            requestId: request.requestId,
            id: model.id,
            ...(request.selection === undefined ? {} : { selection: request.selection }),
            startedAt,
            durationMs: clock.monotonic() - begun,
            ...(firstEventMs === undefined ? {} : { firstEventMs }),
            attempts: 1 + furtherTries(request) - before,
            ...outcomeOf(end, stop.signal.aborted),
          };
          tell(call, end.kind === 'failed' ? end.error : undefined);
        },
      });
    },
  });
}

function outcomeOf(
  end: StreamEnd,
  isAborted: boolean,
): Pick<ModelCall, 'outcome' | 'finish' | 'usage' | 'model' | 'provider' | 'errorCode'> {
  if (end.kind === 'left') return { outcome: isAborted ? 'aborted' : 'left' };
  if (end.kind === 'failed') {
    if (isAborted) return { outcome: 'aborted' };
    return { outcome: 'failed', errorCode: AgentError.is(end.error) ? end.error.code : 'UNKNOWN' };
  }
  if (end.finish === undefined) return { outcome: 'finished' };
  const { reason, usage, model, provider } = end.finish;
  return {
    outcome: 'finished',
    finish: reason,
    usage,
    model,
    ...(provider === undefined ? {} : { provider }),
  };
}

function teller(
  sink: ModelTelemetry | Observer,
  model: AgentModel,
  request: ModelRequest,
): (call: ModelCall, error?: unknown) => void {
  if ('called' in sink)
    return (call) => {
      try {
        sink.called(call);
      } catch {
        // What listens to a call has no say in it.
      }
    };
  let tell: (call: ModelCall, error: unknown) => void = () => undefined;
  const over = new Promise<{ readonly call: ModelCall; readonly error: unknown }>((resolve) => {
    tell = (call, error) => resolve({ call, error });
  });
  const attributes = { requestId: request.requestId };
  sink
    .around({ kind: 'model', name: model.id, attributes }, async (note) => {
      const { call, error } = await over;
      note({ ...call } as unknown as JsonObject);
      if (error !== undefined) throw error;
    })
    .catch(() => undefined);
  return (call, error) => tell(call, error);
}
