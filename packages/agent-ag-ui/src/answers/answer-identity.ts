import { type Decision, inputDigest, type Wait, type WaitResolution } from '@hexagent/agent-core';

/** Answers that say more than which they are: whether two of them are the same, only their content tells. */
const WITH_CONTENT: readonly Decision[] = ['modify', 'answer', 'happened'];

export function hasContent({ decision }: Pick<WaitResolution, 'decision'>): boolean {
  return WITH_CONTENT.includes(decision);
}

/** True when a wait that is closed was closed by the very answer that comes again, as far as that can be seen from outside. */
export function isReplay(wait: Wait, resolution: WaitResolution): boolean {
  const given: Decision = resolution.decision;
  // Nobody can give up what has been settled meanwhile: the client is told how.
  return given === 'cancel' || (wait.decision === given && !hasContent(resolution));
}

/** One key for each content of an answer: the store knows by it that the same one came again. */
export function answerKey(resolution: WaitResolution): string {
  return `ag-ui:${inputDigest({ ...resolution })}`;
}
