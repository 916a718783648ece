import { AgentError } from '../../base/error.ts';
import type { AgentModel, ModelEvent, ModelRequest } from '../../model/agent-model.ts';
import type { ModelSubject, ScriptedServer } from './model-subject.ts';

type Finish = Extract<ModelEvent, { type: 'finish' }>;

/** How long a rule waits for what should come at once; only a broken adapter waits so long. */
const PATIENCE_MS = 10_000;

/** Throws with what was seen unless the claim holds. */
export function hold(claim: boolean, seen: string): void {
  if (!claim) throw new Error(seen);
}

export function same(actual: unknown, expected: unknown, what: string): void {
  const left = JSON.stringify(actual);
  const right = JSON.stringify(expected);
  hold(left === right, `${what}: expected ${right}, saw ${left}`);
}

/** Settles like the work, or fails when it has not settled after a long time. */
export async function soon<T>(work: PromiseLike<T>, what: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not happen`)), PATIENCE_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The scripted server of a subject; a rule that needs it says so in `needs`. */
export function serverOf(subject: ModelSubject): ScriptedServer {
  if (subject.server === undefined) throw new Error('this rule needs a scripted server');
  return subject.server;
}

/** A request for a short text; what a rule is about is laid over it. */
export function asking(text: string, differences: Partial<ModelRequest> = {}): ModelRequest {
  return {
    messages: [{ role: 'user', parts: [{ type: 'text', text }], origin: 'user' }],
    tools: [],
    toolChoice: 'auto',
    requestId: 'contract',
    ...differences,
  };
}

/** A tool with the application's kind of name. */
export function toolNamed(name: string): ModelRequest['tools'][number] {
  return {
    name,
    description: `The tool ${name}.`,
    parameters: { type: 'object', properties: { q: { type: 'string' } } },
  };
}

/** What became of one stream: its events up to the error, if there was one. */
export type Collected = {
  readonly batches: readonly (readonly ModelEvent[])[];
  readonly events: readonly ModelEvent[];
  readonly error: unknown;
};

export async function collect(model: AgentModel, request: ModelRequest): Promise<Collected> {
  const batches: (readonly ModelEvent[])[] = [];
  let error: unknown;
  const reading = async (): Promise<void> => {
    try {
      const { signal } = new AbortController();
      for await (const batch of model.stream(request, { signal })) batches.push(batch);
    } catch (reason) {
      error = reason;
    }
  };
  await soon(reading(), 'the end of the stream');
  return { batches, events: batches.flat(), error };
}

/** The same, for a stream that must succeed. */
export async function answered(model: AgentModel, request: ModelRequest): Promise<Collected> {
  const collected = await collect(model, request);
  if (collected.error !== undefined) throw collected.error;
  return collected;
}

/** The same, for a stream that must fail: with an `AgentError` of a model. */
export async function failing(
  model: AgentModel,
  request: ModelRequest,
): Promise<Collected & { readonly error: AgentError }> {
  const { error, ...collected } = await collect(model, request);
  if (!AgentError.is(error)) throw new Error(`expected an AgentError, saw ${String(error)}`);
  hold(error.code.startsWith('MODEL_'), `expected a code of models, saw ${error.code}`);
  hold(error.mend !== '', 'the error has no mend');
  return { ...collected, error };
}

export function textIn(events: readonly ModelEvent[]): string {
  return events.map((event) => (event.type === 'text' ? event.text : '')).join('');
}

export function finishIn(events: readonly ModelEvent[]): Finish {
  const finish = events.at(-1);
  if (finish?.type !== 'finish') throw new Error(`the last event is ${JSON.stringify(finish)}`);
  return finish;
}

export type AssembledCall = { readonly name: string; readonly input: unknown };

/** The calls of a stream, put together as the runner does it; fails where an index has a gap. */
export function callsIn(events: readonly ModelEvent[]): readonly AssembledCall[] {
  const calls: { readonly name: string; text: string }[] = [];
  for (const event of events) {
    if (event.type === 'tool-call-start') {
      same(event.index, calls.length, 'the index of the next call');
      calls.push({ name: event.name, text: '' });
    } else if (event.type === 'tool-call-delta') {
      const call = calls[event.index];
      if (call === undefined) throw new Error(`a delta for call ${event.index}, which is not open`);
      call.text += event.delta;
    }
  }
  return calls.map(({ name, text }) => ({ name, input: JSON.parse(text) }));
}
