import type { Effects, Idempotency } from './effects.ts';
import type { ApprovalRequirement, RiskAxis } from './tool.ts';

/** The axes of risk of a tool's effects, always in the same order. */
export function riskOf(effects: Effects): readonly RiskAxis[] {
  const { access, externality, destructive, network } = effects;
  const writes = access === 'write' || access === 'read-write';
  const axes: Readonly<Record<RiskAxis, boolean>> = {
    read: access === 'read' || access === 'read-write',
    write: writes,
    'side-effect': writes || externality !== 'local',
    destructive,
    network: network || externality === 'external',
  };
  return Object.freeze((Object.keys(axes) as RiskAxis[]).filter((axis) => axes[axis]));
}

/** True when `derived` comes to an approval: destructive, or a side effect that writes or leaves by the network. */
export function isApprovalCandidate(risk: readonly RiskAxis[]): boolean {
  if (risk.includes('destructive')) return true;
  return risk.includes('side-effect') && (risk.includes('write') || risk.includes('network'));
}

/** What the author asks for wins; `derived` follows the risk. */
export function requiresApproval(
  approval: ApprovalRequirement,
  risk: readonly RiskAxis[],
): boolean {
  return approval === 'required' || (approval === 'derived' && isApprovalCandidate(risk));
}

/**
 * True for a tool that can be run again, and beside others, without a trace: it reads at most, and destroys nothing. A tool that says
 * it touches no data and yet goes outside does something there, so it does not count.
 */
export function isReadOnly({ access, externality, destructive }: Effects): boolean {
  if (destructive) return false;
  return access === 'read' || (access === 'none' && externality === 'local');
}

/**
 * What a new owner does with a call that was started and not answered: again with the same key, ask the tool what became
 * of it, or ask a human. What the author says of idempotency comes before what the effects suggest.
 */
export function resumeOf(tool: {
  readonly effects: Effects;
  readonly idempotency: Idempotency;
  readonly reconciles: boolean;
}): 'retry' | 'probe' | 'ask' {
  const { effects, idempotency, reconciles } = tool;
  if (idempotency === 'idempotent') return 'retry';
  // Under which condition is the tool's to know: where it can say what became of the call, it is asked first.
  if (idempotency === 'conditionally-idempotent') return reconciles ? 'probe' : 'retry';
  if (idempotency === 'unknown' && isReadOnly(effects)) return 'retry';
  return reconciles ? 'probe' : 'ask';
}
