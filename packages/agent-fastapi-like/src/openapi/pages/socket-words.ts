import type { JsonObject } from '@hexagent/agent-core';
import type { Static } from 'typebox';
import type { ClientMessage, ServerMessage } from '../../websocket/messages.ts';

/** One message of each type as it is sent, beside `v` and `type`. */
type Examples<Message extends { readonly type: string }> = Readonly<
  Record<Message['type'], JsonObject>
>;

export const CLIENT_EXAMPLES: Examples<Static<typeof ClientMessage>> = {
  authenticate: { token: 'acme.alice' },
  start: { id: 'a', input: { message: 'Hello.' } },
  watch: { id: 'b', runId: 'r1', after: 17 },
  unwatch: { id: 'c', runId: 'r1' },
  signal: {
    id: 'd',
    runId: 'r1',
    signal: { kind: 'user-message', payload: { text: 'One more thing.' } },
  },
  resolve: { id: 'e', waitId: 'w1', resolution: { decision: 'approve' } },
  cancel: { id: 'f', runId: 'r1', reason: 'Not needed any more.' },
  ping: { id: 'g' },
};

export const SERVER_EXAMPLES: Examples<Static<typeof ServerMessage>> = {
  ready: {},
  done: { id: 'a', runId: 'r1' },
  pong: { id: 'g' },
  event: {
    envelope: {
      rootRunId: 'r1',
      runId: 'r1',
      agent: 'assistant',
      seq: 1,
      at: 1_790_000_000_000,
      event: { type: 'run-started' },
    },
  },
  snapshot: { runId: 'r1', snapshot: { lastSeq: 17 } },
  rest: { runId: 'r1', after: 17 },
  error: {
    id: 'b',
    error: {
      code: 'RUN_NOT_FOUND',
      message: 'There is no run "r2" for this caller.',
      mend: 'Check the id, and that the caller is the owner of the run.',
    },
  },
};

/** What messages are for whose schema says nothing of it. */
export const CLIENT_WORDS: Readonly<Record<string, string>> = {
  signal: 'Tells a run something.',
  cancel: 'Ends a run.',
};
