import { shortHash } from '@hexagent/agent-core/adapter';

/** The ids of calls on the wire: the provider's own where it gave any that it takes back, and never one twice. */
export interface ToolUseIds {
  add(call: { readonly callId: string; readonly providerCallId?: string }): string;
  /** The id of a call that was added; one that follows from its name for another. */
  of(callId: string): string;
}

/** The ids of one request. */
export function toolUseIds(): ToolUseIds {
  const byCall = new Map<string, string>();
  const used = new Set<string>();
  return {
    add({ callId, providerCallId = callId }) {
      const isFree = /^[a-zA-Z0-9_-]+$/.test(providerCallId) && !used.has(providerCallId);
      const id = isFree ? providerCallId : madeId(callId);
      used.add(id);
      byCall.set(callId, id);
      return id;
    },
    of: (callId) => byCall.get(callId) ?? madeId(callId),
  };
}

function madeId(callId: string): string {
  return `toolu_${shortHash(callId, 24)}`;
}
