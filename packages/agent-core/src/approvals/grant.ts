import type { Instant } from '../base/clock.ts';
import type { WaitId } from '../base/ids.ts';
import { canonicalJson, type JsonValue } from '../base/json.ts';
import { sha256Hex } from '../base/sha256.ts';
import type { Scope } from '../vocabulary/scope.ts';
import type { Remember } from '../vocabulary/wait.ts';

/** Where remembered approvals are kept. */
export const GRANTS = 'hexagent/grants';

/** An approval that holds for later calls, until it is revoked. */
export type Grant = {
  /** Names it when it is revoked, and in the evidence of each call that it lets run. */
  readonly id: string;
  readonly agent: string;
  readonly tool: string;
  /** What a stored call relies on (see `toolIdentity`): a tool that has changed is asked about again. */
  readonly toolIdentity: string;
  readonly what: Remember['what'];
  readonly within: Remember['within'];
  /** The run, the conversation or the user that it is for. */
  readonly place: string;
  /** Whose runs; absent for runs that belong to no user. */
  readonly userId?: string;
  /** Of the exact arguments, when it is for these only. */
  readonly inputDigest?: string;
  readonly grantedBy: string;
  readonly grantedAt: Instant;
  /** The question that was answered so. */
  readonly waitId: WaitId;
};

/** What a grant stands for: the same subject has the same id, so granting twice is granting once. */
export type GrantSubject = Pick<
  Grant,
  'agent' | 'tool' | 'what' | 'within' | 'place' | 'userId' | 'inputDigest'
>;

/** Digests of one length in place of names: keys of any names are safe in an address, bounded, and tell nobody who it was. */
const DIGEST_LENGTH = 16;
const ID = new RegExp(`^(?:[0-9a-f]{${DIGEST_LENGTH}}\\.){2}[0-9a-f]{${DIGEST_LENGTH}}$`);

/** The id of a grant, which is its key in the store: owner, then place, then what is granted. */
export function grantIdOf(subject: GrantSubject): string {
  const { agent, tool, what, within, place, userId, inputDigest } = subject;
  return [
    ownerDigest(userId),
    digestOf([within, place]),
    digestOf([agent, tool, what, inputDigest ?? null]),
  ].join('.');
}

/** With what the ids of all grants begin that are for the runs of one user, or for those of none. */
export function grantPrefix(userId: string | undefined): string {
  return `${ownerDigest(userId)}.`;
}

/** True for a text that could be the id of a grant of this caller; a caller without a user is for the whole tenant. */
export function mayOwnGrant(id: string, { userId }: Scope): boolean {
  if (!ID.test(id)) return false;
  return (
    userId === undefined || [userId, undefined].some((owner) => id.startsWith(grantPrefix(owner)))
  );
}

/** What a sealed grant is bound to. */
export function grantPlace(tenantId: string, id: string): string {
  return `${GRANTS}/${tenantId}/${id}`;
}

function ownerDigest(userId: string | undefined): string {
  return digestOf(['owner', userId ?? null]);
}

function digestOf(parts: readonly JsonValue[]): string {
  return sha256Hex(canonicalJson(parts)).slice(0, DIGEST_LENGTH);
}
