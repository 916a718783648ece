import {
  type Caller,
  type Envelope,
  inputInvalid,
  linked,
  type RunHandle,
  type RunId,
  type RunResult as RunOutcome,
} from '@hexagent/agent-core';
import type { FastifyReply } from 'fastify';
import type { Static } from 'typebox';
import type { Answer, Served } from '../api/route.ts';
import { json } from '../api/route.ts';
import { EVENT_STREAM } from '../schemas/event-stream.ts';
import type { StartHeaders, StartQuery } from '../schemas/requests.ts';
import { RunResult } from '../schemas/result.ts';
import { PausedRun } from '../schemas/run.ts';
import { sendEvents, singly } from '../streams/event-reply.ts';
import { logRun } from '../streams/run-log.ts';
import { prefersEvents } from '../web/accept.ts';

/** How a start and a fork answer. */
export const BEGUN_ANSWERS: Readonly<Record<number, Answer>> = {
  200: {
    description: 'What the run came to, or its events as they come.',
    content: { 'application/json': RunResult, ...EVENT_STREAM },
    headers: { location: 'Where the run is, when it is kept.' },
  },
  202: {
    ...json(
      PausedRun,
      'The run waits, or goes on by itself (`Prefer: respond-async`, or the host closes).',
    ),
    headers: {
      location: 'Where the run is.',
      'preference-applied': '`respond-async`, when that was asked for.',
    },
  },
};

type Asked = {
  readonly headers: Static<typeof StartHeaders>;
  readonly query?: Static<typeof StartQuery>;
  /** The client's own name of the run. */
  readonly clientRunId?: string | undefined;
};

/**
 * Begins a run and answers as the client wants it: with its events, with what it comes to, or at once. `isKept` says
 * whether the run can be asked for later.
 */
export async function answerBegun(
  served: Served,
  asked: Asked,
  {
    begin,
    isKept,
  }: {
    readonly begin: (caller: Caller) => Promise<RunHandle>;
    readonly isKept: (caller: Caller) => boolean;
  },
): Promise<unknown> {
  const { request, reply, context } = served;
  const streams = asked.query?.stream === 'sse' || prefersEvents(request.headers.accept);
  const asking = await (streams ? served.streamCaller() : served.caller());
  const { signal } = asking;
  const caller = { ...asking, ...requestKeyOf(asked) };
  const handle = await begin(caller);
  const kept = isKept(caller);
  logRun(handle, request.log);
  if (kept) reply.header('location', locationOf(handle.runId, context.prefix));
  if (streams) {
    const events = (): AsyncIterable<readonly Envelope[]> => singly(handle.events({ signal }));
    return sendEvents(reply, events, { signal, streams: context.operation.streams });
  }
  if (kept && prefersAsync(asked.headers.prefer)) {
    reply.header('preference-applied', 'respond-async');
    return accepted(served, handle.runId, caller);
  }
  const { closing } = context.operation;
  const result = await resultOf(handle, { signal, closing: kept ? closing : undefined });
  const goesOn = result === undefined || result.kind === 'paused';
  return goesOn ? accepted(served, handle.runId, caller) : result;
}

/**
 * What a run comes to, unless its client leaves, which then waits for nothing. Undefined when the host closes before: a run that is
 * kept goes on elsewhere.
 */
async function resultOf(
  { result }: RunHandle,
  { signal, closing }: { readonly signal: AbortSignal; readonly closing: AbortSignal | undefined },
): Promise<RunOutcome<unknown> | undefined> {
  const link = linked(signal, closing);
  try {
    return await link.until(result);
  } catch (error) {
    if (closing?.aborted === true && error === closing.reason) return undefined;
    throw error;
  } finally {
    link.release();
  }
}

async function accepted(
  { reply, context }: Served,
  runId: RunId,
  caller: Caller,
): Promise<FastifyReply> {
  const run = await context.gateway.get(runId, caller);
  const { items: waits } = await context.gateway.waits({ runId, status: 'pending' }, caller);
  return reply.code(202).send({ run, waits });
}

/** @throws AgentError `INPUT_INVALID` for two keys: nobody could say which of them the run was started under. */
function requestKeyOf({ headers, clientRunId }: Asked): { readonly requestKey?: string } {
  const key = headers['idempotency-key'];
  if (key !== undefined && clientRunId !== undefined && key !== clientRunId)
    throw inputInvalid('This request', [
      {
        at: 'body.clientRunId',
        seen: 'is another key than the header Idempotency-Key.',
        mend: 'Send one of them, or the same in both.',
      },
    ]);
  const requestKey = key ?? clientRunId;
  return requestKey === undefined ? {} : { requestKey };
}

/** Source: RFC 7240, section 4.1. */
function prefersAsync(prefer = ''): boolean {
  return prefer.split(',').some((one) => one.trim().toLowerCase() === 'respond-async');
}

function locationOf(runId: RunId, prefix: string): string {
  return `${prefix}/runs/${encodeURIComponent(runId)}`;
}
