import { RULES } from '../../models/ownership/model.mjs';

/** The rules of the model that its store operations follow, each of which the comparison must tell apart. */
export const STORE_RULES = [
  'fenceGuardsCommit',
  'resendNeedsFence',
  'releaseEndsLease',
  'releaseSeesInbox',
  'createdIsClaimable',
  'waitWritesAreGuarded',
  'digestBindsAnswer',
  'endClosesInbox',
  'duplicateBeforeTerminal',
  'onlyKnowledgeIsProgress',
  'handBackIsNoDelivery',
  'poisonOpensReset',
] as const satisfies readonly (keyof typeof RULES)[];

export function without(rule: (typeof STORE_RULES)[number]): typeof RULES {
  return { ...RULES, [rule]: false };
}
