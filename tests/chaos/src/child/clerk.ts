import { setTimeout as pause } from 'node:timers/promises';
import {
  type AgentDefinition,
  defineAgent,
  defineTool,
  effects,
  type Tool,
  type ToolContext,
} from '@hexagent/agent-core';
import { Type } from 'typebox';
import { ENTRIES, type Order, resultOf } from './order.ts';
import type { Reach } from './points.ts';
import { effectsIn, type Request, sendTo } from './receiver.ts';

/** Longer than the tool may take, when its effect is to be late. */
const LATE_MS = 1_000;
const TIMEOUT_MS = 300;
const ENDLESS_MS = 600_000;

/** An agent whose effects are rows in a file: how often each happened can be counted. */
export function clerk(order: Order, reach: Reach): AgentDefinition {
  const common = {
    name: order.agent,
    recovery: 'action-boundary',
    accepts: ['user-message', 'pause', 'resume'],
    tools: [ledgerTool(order, reach)],
    ...(order.expiresInMs === undefined
      ? {}
      : { approvals: { expiresInMs: order.expiresInMs, onExpiry: 'reject' as const } }),
  } as const;
  return order.script === 're-ask'
    ? defineAgent({ ...common, output: Type.Object({ answer: Type.String() }) })
    : defineAgent(common);
}

function ledgerTool(order: Order, reach: Reach): Tool {
  const { tool, folder, asks = true, faults = [], script } = order;
  const request = (what: Request['what'], entry: string, { call }: ToolContext): Request => ({
    what,
    key: call.idempotencyKey,
    callId: call.callId,
    entry,
    fence: call.fence,
  });
  const execute = async ({ entry }: { readonly entry: string }, context: ToolContext) => {
    const step = ENTRIES.indexOf(entry) + 1;
    await reach('before the effect', step);
    sendTo(folder, request(tool === 'read-only' ? 'read' : 'effect', entry, context));
    await reach('after the effect', step);
    if (script === 'cleanups') await pause(ENDLESS_MS, undefined, { signal: context.signal });
    if (script === 'late-effect' && context.call.attempt === 1) await pause(LATE_MS);
    return resultOf(entry, script);
  };
  const cleanup = async ({ entry }: { readonly entry: string }, context: ToolContext) => {
    await reach('before the cleanup', ENTRIES.indexOf(entry) + 1);
    sendTo(folder, request('cleanup', entry, context));
  };
  const common = {
    name: 'ledger.write',
    description: 'Writes an entry into the ledger.',
    input: Type.Object({ entry: Type.String() }),
    approval: asks ? 'required' : 'not-required',
    ...(script === 'late-effect' ? { timeoutMs: TIMEOUT_MS } : {}),
    ...(script === 'cleanups' ? { concurrent: true, cleanup } : {}),
    execute,
  } as const;
  switch (tool) {
    case 'read-only':
      return defineTool({ ...common, effects: effects.readOnly() });
    case 'idempotent':
      return defineTool({
        ...common,
        effects: effects.externalSideEffect(),
        idempotency: 'idempotent',
      });
    case 'non-idempotent':
      return defineTool({
        ...common,
        effects: effects.externalSideEffect(),
        idempotency: 'non-idempotent',
      });
    case 'reconcilable':
      return defineTool({
        ...common,
        effects: effects.externalSideEffect(),
        idempotency: 'non-idempotent',
        reconcile: async ({ entry }, context) => {
          // Asked first, looked at then: what an earlier owner sends from here on is refused.
          sendTo(folder, request('probe', entry, context));
          await reach('in the probe');
          const key = context.call.idempotencyKey;
          const isThere = effectsIn(folder, { tool }).some((effect) => effect.key === key);
          return isThere && !faults.includes('probe-lies')
            ? { kind: 'committed', result: resultOf(entry, script) }
            : { kind: 'not-started' };
        },
      });
  }
}
