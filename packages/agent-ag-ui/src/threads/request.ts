import type {
  AgentDescription,
  Caller,
  RunGateway,
  RunHandle,
  RunId,
  RunState,
} from '@hexagent/agent-core';
import { type Forwarded, RUN_KEYS } from '../input/run-input.ts';

/** What every step of a request works with. */
export type Request = {
  readonly gateway: RunGateway;
  readonly caller: Caller;
  readonly agent: AgentDescription;
  readonly forwarded: readonly Forwarded[];
  /** A run that is kept nowhere goes on without its client. */
  readonly detached?: boolean;
};

/** What the stream of a request shows: a run, from where on, and where it does not end. */
export type Plan = {
  readonly runId: RunId;
  readonly after: number;
  /** Waits that this request or an earlier one has answered: nobody is asked about them again. */
  readonly answered: ReadonlySet<string>;
  /** A person's pauses below this number of the log are over. */
  readonly heldBefore: number;
  /** This request only looks on: it has neither begun the run nor answered it. */
  readonly follows?: boolean;
  /** Calls of the client's own tools whose results are in its messages. */
  readonly replied?: ReadonlySet<string>;
  /** Of a run that is kept nowhere: its only reader. */
  readonly handle?: RunHandle;
};

/** The client's ids of the messages that started a run. */
export function messageIdsOf({ metadata }: RunState): readonly string[] {
  try {
    const ids: unknown = JSON.parse(metadata[RUN_KEYS.messageIds] ?? '[]');
    return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
  } catch {
    return [];
  }
}

/** The message that starts a run, as we call it: a client that was given the thread may have it under this id. */
export function firstMessageId({ runId }: RunState): string {
  return `${runId}.m1`;
}

/** Messages of the user that a run has taken, under every id that a client may have them by. */
export function takenIds(runs: readonly RunState[]): ReadonlySet<string> {
  return new Set(runs.flatMap((run) => [firstMessageId(run), ...messageIdsOf(run)]));
}

/** What clients call the messages that started these runs, by our ids. */
export function clientIdsOf(runs: readonly RunState[]): ReadonlyMap<string, string> {
  return new Map(
    runs.flatMap((run) => {
      const id = messageIdsOf(run).at(-1);
      return id === undefined ? [] : [[firstMessageId(run), id] as const];
    }),
  );
}
