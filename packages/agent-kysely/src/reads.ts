import {
  CONVERSATION_KINDS,
  type ConversationStore,
  type EventLog,
  FORMAT,
  type Principal,
  type RunHead,
  type RunInbox,
  type RunRecords,
  type RunTree,
  runIdOf,
  type Scope,
  type ValueKey,
  type ValueStore,
} from '@hexagent/agent-core';
import { formatUnknown } from './failure.ts';
import { encodeKey } from './key-order.ts';
import { listRuns, listValues, listWaits } from './lists.ts';
import type { Reader } from './reader.ts';
import {
  byId,
  callRecord,
  evidenceRow,
  runSignal,
  runState,
  standing,
  stored,
  storedEvents,
  storedMessage,
  storedValue,
  waitRecord,
} from './records.ts';
import type { RunRow } from './tables.ts';

type Stores = {
  readonly records: Omit<RunRecords, 'erase' | 'prune'>;
  readonly log: Pick<EventLog, 'read'>;
  readonly conversations: ConversationStore;
  readonly inbox: Pick<RunInbox, 'pending'>;
  readonly values: Pick<ValueStore, 'get' | 'list'>;
};

/** Everything that only reads: the same queries on both databases. */
export function storeReads(reader: Reader): Stores {
  return {
    records: {
      head: (rootRunId, { signal }) => head(reader, { rootRunId, signal }),
      load: (rootRunId, { signal }) => load(reader, { rootRunId, signal }),
      runs: (query) => listRuns(reader, query),
      waits: (query) => listWaits(reader, query),
      evidence: async (rootRunId, { after, limit, manifestRef, signal }) => {
        let query = reader.build
          .selectFrom(reader.from('evidence'))
          .selectAll()
          .where('root', '=', rootRunId)
          .where('seq', '>', after)
          .orderBy('seq')
          .limit(limit);
        if (manifestRef !== undefined) query = query.where('manifest_ref', '=', manifestRef);
        return (await reader.all(query, signal)).map(evidenceRow);
      },
    },
    log: {
      read: async (rootRunId, { after, limit, signal }) => {
        const query = reader.build
          .selectFrom(reader.from('event'))
          .selectAll()
          .where('root', '=', rootRunId)
          .where('last_seq', '>', after)
          .orderBy('last_seq')
          .limit(limit);
        return (await reader.all(query, signal)).map(storedEvents);
      },
    },
    conversations: {
      turns: (conversationId, query) => turns(reader, { conversationId, ...query }),
    },
    inbox: {
      pending: async (rootRunId, { signal }) => {
        const query = reader.build
          .selectFrom(reader.from('signal'))
          .selectAll()
          .where('root', '=', rootRunId)
          .where('consumed_at', 'is', null)
          .orderBy('seq');
        return (await reader.all(query, signal)).map(runSignal);
      },
    },
    values: {
      get: async (key, { signal }) => {
        const [row] = await reader.all(valueQuery(reader, key), signal);
        return row === undefined ? undefined : storedValue(row);
      },
      list: (query) => listValues(reader, query),
    },
  };
}

type AtRoot = { readonly rootRunId: string; readonly signal: AbortSignal };

async function head(reader: Reader, { rootRunId, signal }: AtRoot): Promise<RunHead | undefined> {
  const query = reader.build
    .selectFrom(reader.from('run'))
    .select(['id', 'state', 'principal', 'format', 'fence', 'last_seq', 'pruned_through'])
    .where('id', '=', rootRunId)
    .whereRef('id', '=', 'root');
  const [row] = await reader.all(query, signal);
  if (row === undefined) return undefined;
  return {
    run: runState(row),
    principal: principalOf(row),
    format: known(row),
    fence: Number(row.fence),
    lastSeq: Number(row.last_seq),
    prunedThrough: Number(row.pruned_through),
  };
}

function principalOf({ id, principal }: Pick<RunRow, 'id' | 'principal'>): Principal {
  return stored<Principal>(principal, `the principal of run ${id}`);
}

/** The edition of a run's records, if this process can read it. */
function known({ id, format }: Pick<RunRow, 'id' | 'format'>): number {
  if (format > FORMAT) throw formatUnknown(`Run ${id}`, `it has format ${format}, not ${FORMAT}`);
  return format;
}

async function load(reader: Reader, { rootRunId, signal }: AtRoot): Promise<RunTree | undefined> {
  const { build, from } = reader;
  const [runRows, callRows, waitRows, messageRows, evidenceRows] = await reader.snapshot(
    [
      build.selectFrom(from('run')).selectAll().where('root', '=', rootRunId),
      build.selectFrom(from('call')).selectAll().where('root', '=', rootRunId),
      build.selectFrom(from('wait')).selectAll().where('root', '=', rootRunId),
      build.selectFrom(from('message')).selectAll().where('root', '=', rootRunId),
      build
        .selectFrom(from('evidence'))
        .selectAll()
        .where('root', '=', rootRunId)
        .orderBy('seq', 'desc')
        .limit(1),
    ],
    signal,
  );
  const root = runRows.find(({ id }) => id === rootRunId);
  if (root === undefined || root.input === null) return undefined;
  const format = known(root);
  const [last] = evidenceRows;
  return {
    runs: [...runRows].sort(byId).map(runState),
    principal: principalOf(root),
    input: stored<RunTree['input']>(root.input, `the input of run ${root.id}`),
    calls: [...callRows].sort((a, b) => a.step - b.step || byId(a, b)).map(callRecord),
    waits: [...waitRows].sort((a, b) => a.opened_at - b.opened_at || byId(a, b)).map(waitRecord),
    messages: [...messageRows]
      .sort((a, b) => byId({ id: a.run }, { id: b.run }) || a.seq - b.seq)
      .map(storedMessage),
    ...(last === undefined ? {} : { lastEvidence: evidenceRow(last) }),
    lastSeq: root.last_seq,
    openSteps: stored<string[]>(root.open_steps, `the open steps of run ${root.id}`),
    deliveries: root.deliveries,
    format,
  };
}

async function turns(
  reader: Reader,
  query: {
    readonly conversationId: string;
    readonly scope: Scope;
    readonly last: number;
    readonly signal: AbortSignal;
  },
): ReturnType<ConversationStore['turns']> {
  const { build, from } = reader;
  const { conversationId, scope, last, signal } = query;
  let conversation = build
    .selectFrom(from('conversation'))
    .select('id')
    .where('tenant', '=', scope.tenantId)
    .where('id', '=', conversationId);
  if (scope.userId !== undefined) conversation = conversation.where('owner', '=', scope.userId);
  const settled = build
    .selectFrom(from('turn'))
    .selectAll()
    .where('tenant', '=', scope.tenantId)
    .where('conversation', 'in', conversation)
    .orderBy('n', 'desc')
    .limit(last);
  const messages = build
    .selectFrom(from('message'))
    .selectAll('message')
    .where('message.run', 'in', build.selectFrom(settled.as('settled')).select('settled.run'))
    .where('message.root', 'in', build.selectFrom(settled.as('settled')).select('settled.root'));
  const unread = build
    .selectFrom(from('signal'))
    .selectAll('signal')
    .where('signal.root', 'in', build.selectFrom(settled.as('settled')).select('settled.root'))
    .where('signal.consumed_at', 'is', null)
    .where('signal.kind', 'in', [...CONVERSATION_KINDS]);
  const [turnRows, messageRows, signalRows] = await reader.snapshot(
    [settled, messages, unread],
    signal,
  );
  const rows = messageRows.map(storedMessage);
  return [...turnRows]
    .sort((left, right) => left.n - right.n)
    .map(({ run, root }) => {
      const left = signalRows.filter((row) => row.root === root && run === root);
      return {
        runId: runIdOf(run),
        messages: standing(
          rows.filter(({ runId }) => runId === run).sort((one, other) => one.seq - other.seq),
        ).map(({ message }) => message),
        ...(left.length === 0 ? {} : { unread: left.sort(bySeq).map(runSignal) }),
      };
    });
}

function bySeq(left: { readonly seq: number }, right: { readonly seq: number }): number {
  return left.seq - right.seq;
}

function valueQuery({ build, from, now }: Reader, { namespace, tenantId, key }: ValueKey) {
  return build
    .selectFrom(from('value'))
    .selectAll()
    .where('tenant', '=', tenantId)
    .where('namespace', '=', namespace)
    .where('key', '=', encodeKey(key))
    .where((row) => row.or([row('expires_at', 'is', null), row('expires_at', '>', now())]));
}
