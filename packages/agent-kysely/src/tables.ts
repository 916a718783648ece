/** Rows as both databases keep them. Whatever SQL does not look at is JSON text, so that a driver can never alter it. */
export type Tables = {
  readonly run: RunRow;
  readonly call: CallRow;
  readonly message: MessageRow;
  readonly wait: WaitRow;
  readonly evidence: EvidenceTableRow;
  readonly event: EventRow;
  readonly inbox: InboxRow;
  readonly signal: SignalRow;
  readonly conversation: ConversationRow;
  readonly turn: TurnRow;
  readonly value: ValueRow;
};

export type TableName = keyof Tables;

/** One run of a tree. The columns from `principal` on are the head: they are filled on the root row only. */
export type RunRow = {
  readonly id: string;
  readonly root: string;
  readonly tenant: string;
  readonly user_id: string | null;
  readonly conversation: string;
  readonly agent: string;
  readonly status: string;
  readonly status_at: number;
  readonly state: string;
  readonly principal: string | null;
  readonly input: string | null;
  readonly request_key: string | null;
  readonly format: number;
  readonly version: number;
  readonly fence: number;
  readonly owner: string | null;
  readonly lease_until: number | null;
  readonly deliveries: number;
  readonly last_commit_id: string | null;
  readonly last_seq: number;
  readonly open_steps: string;
  readonly released: number;
  readonly wake_at: number | null;
  readonly pruned_through: number;
};

export type CallRow = {
  readonly id: string;
  readonly root: string;
  readonly run: string;
  readonly step: number;
  readonly stage: string;
  readonly record: string;
};

export type MessageRow = {
  readonly root: string;
  readonly run: string;
  readonly seq: number;
  readonly message: string;
  readonly replaces: string | null;
};

export type WaitRow = {
  readonly id: string;
  readonly root: string;
  readonly run: string;
  readonly tenant: string;
  readonly user_id: string | null;
  readonly kind: string;
  readonly status: string;
  readonly digest: string;
  readonly opened_at: number;
  readonly expires_at: number | null;
  /** What never changes after the opening: call, prompt, allowed answers, what happens at expiry. */
  readonly question: string;
  readonly decision: string | null;
  readonly resolved_by: string | null;
  readonly resolution: string | null;
};

export type EvidenceTableRow = {
  readonly root: string;
  readonly seq: number;
  readonly run: string;
  readonly kind: string;
  readonly at: number;
  readonly manifest_ref: string | null;
  readonly payload: string | null;
  readonly salt: string | null;
  readonly payload_digest: string;
  readonly previous_hash: string;
  readonly hash: string;
};

export type EventRow = {
  readonly root: string;
  readonly first_seq: number;
  readonly last_seq: number;
  readonly run: string;
  readonly agent: string;
  readonly step: string | null;
  readonly at: number;
  readonly event: string;
  readonly ends: string | null;
};

export type InboxRow = { readonly root: string; readonly next: number; readonly closed: number };

export type SignalRow = {
  readonly root: string;
  readonly seq: number;
  readonly kind: string;
  readonly payload: string;
  readonly dedupe_key: string;
  readonly at: number;
  readonly consumed_at: number | null;
  /** 1 for an unread control signal: it makes an interrupted run claimable. */
  readonly wakes: number;
};

export type ConversationRow = {
  readonly tenant: string;
  readonly id: string;
  readonly owner: string | null;
  readonly open_root: string | null;
  /** Roots that wait for `open_root` to end, in order, with a space between them. */
  readonly queue: string;
  readonly turns: number;
};

export type TurnRow = {
  readonly tenant: string;
  readonly conversation: string;
  readonly n: number;
  readonly root: string;
  readonly run: string;
};

export type ValueRow = {
  readonly tenant: string;
  readonly namespace: string;
  readonly key: string;
  readonly value: string;
  readonly version: number;
  readonly expires_at: number | null;
};

export const TABLE_NAMES: readonly TableName[] = [
  'run',
  'call',
  'message',
  'wait',
  'evidence',
  'event',
  'inbox',
  'signal',
  'conversation',
  'turn',
  'value',
];

/** Where the tables stand. */
export type Naming = { readonly prefix: string; readonly schema?: string };

/** The full name of a table, quoted, for a statement that is written by hand. */
export function quoted({ prefix, schema }: Naming, table: string): string {
  const name = `"${prefix}${table}"`;
  return schema === undefined ? name : `"${schema}".${name}`;
}
