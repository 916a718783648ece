import {
  GRANTS,
  type Grant,
  type GrantSubject,
  grantIdOf,
  grantPlace,
} from '../approvals/grant.ts';
import type { DurableStore } from '../durable/durable-store.ts';
import type { Value, ValueStore } from '../durable/value-store.ts';
import { toolIdentity } from '../tools/catalogue.ts';
import type { Tool } from '../tools/tool.ts';
import {
  REMEMBERED,
  REMEMBERED_WITHIN,
  type Remember,
  type WaitRecord,
} from '../vocabulary/wait.ts';
import type { ActiveRun } from './active-run.ts';
import { keep, opened } from './keeping.ts';
import type { OpenCall } from './open-call.ts';

/** A run that rests for longer asks again: nothing else takes the grants of a run away when it has ended. */
const RUN_GRANT_MS = 30 * 24 * 60 * 60 * 1_000;

/** A call of a tool, as grants tell calls apart. */
export type GrantableCall = { readonly tool: Tool; readonly inputDigest: string };

/**
 * An approval that is to hold for later calls, ready to be written in the commit that uses the answer. Undefined when it cannot be
 * kept so: a run that belongs to no user has nothing to remember for one.
 */
export async function rememberedApproval(
  run: ActiveRun,
  call: GrantableCall,
  { wait, remember }: { readonly wait: WaitRecord; readonly remember: Remember },
): Promise<OpenCall['remembered']> {
  const subject = subjectOf(run, call, remember);
  if (subject === undefined) return undefined;
  const { tenantId } = run.facts.principal.scope;
  const id = grantIdOf(subject);
  const grant: Grant = {
    id,
    ...subject,
    toolIdentity: toolIdentity(call.tool),
    grantedBy: String(wait.resolvedBy),
    grantedAt: run.setup.clock.now(),
    waitId: wait.id,
  };
  const value = await keep(grant, {
    sealer: run.setup.sealer,
    boundTo: grantPlace(tenantId, id),
  });
  const expiry = remember.within === 'run' ? { ttlMs: RUN_GRANT_MS } : {};
  return { grant, write: { namespace: GRANTS, tenantId, key: id, value, ...expiry } };
}

/**
 * The remembered approval that lets a call run without a question; undefined when there is none. Looked up once for each call that would
 * ask: when its batch is authorised, and again by a new owner that finds it authorised and not started. A grant that is revoked
 * afterwards does not hold back a call that waits in the same hands for its turn. Only for a durable run: another has nobody to ask.
 */
export async function grantFor(run: ActiveRun, call: GrantableCall): Promise<Grant | undefined> {
  const { values } = run.setup.store as DurableStore;
  const subjects = REMEMBERED_WITHIN.flatMap((within) =>
    REMEMBERED.flatMap((what) => subjectOf(run, call, { what, within }) ?? []),
  );
  const found = await Promise.all(subjects.map((subject) => standing(run, values, subject)));
  const identity = toolIdentity(call.tool);
  return found.find((grant) => grant?.toolIdentity === identity);
}

function subjectOf(
  run: ActiveRun,
  { tool, inputDigest }: GrantableCall,
  { what, within }: Remember,
): GrantSubject | undefined {
  const { definition, principal, conversationId } = run.facts;
  const { userId } = principal.scope;
  const place = { run: run.runId, conversation: conversationId, user: userId }[within];
  if (place === undefined) return undefined;
  return {
    agent: definition.name,
    tool: tool.name,
    what,
    within,
    place,
    ...(userId === undefined ? {} : { userId }),
    ...(what === 'tool' ? {} : { inputDigest }),
  };
}

/** What stands under the id of a subject, if it is about that very subject: an id is only a digest. */
async function standing(
  run: ActiveRun,
  values: ValueStore,
  subject: GrantSubject,
): Promise<Grant | undefined> {
  const { tenantId } = run.facts.principal.scope;
  const key = grantIdOf(subject);
  const value = await values.get(
    { namespace: GRANTS, tenantId, key },
    { signal: run.storage.signal },
  );
  if (value === undefined) return undefined;
  const grant = await openedGrant(value, run.setup);
  return Object.entries(subject).every(([field, of]) => grant[field as keyof Grant] === of)
    ? grant
    : undefined;
}

/** A grant as it is stored, read. */
export function openedGrant(
  { tenantId, key, value }: Value,
  { sealer }: Pick<ActiveRun['setup'], 'sealer'>,
): Promise<Grant> {
  return opened(value as Value['value'] & { readonly plain: Grant }, {
    sealer,
    boundTo: grantPlace(tenantId, key),
  }) as Promise<Grant>;
}
