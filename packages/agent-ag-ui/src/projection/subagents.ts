import { type AGUIEvent, EventType } from '@ag-ui/core';
import type { RunOutcome } from '@hexagent/agent-core';
import type { Ending } from './endings.ts';
import { toldRecord } from './told-error.ts';

/** The nested runs of one stream: each is entered once and left once. */
export class Subagents {
  readonly #open = new Set<string>();
  readonly #known = new Set<string>();

  enter(subagentRunId: string, name: string): readonly AGUIEvent[] {
    if (this.#known.has(subagentRunId)) return [];
    this.#known.add(subagentRunId);
    this.#open.add(subagentRunId);
    return [{ type: EventType.SUBAGENT_STARTED, subagentRunId, name }];
  }

  leave(subagentRunId: string, outcome: RunOutcome): readonly AGUIEvent[] {
    if (!this.#open.delete(subagentRunId)) return [];
    if (outcome.kind === 'completed') {
      const result = outcome.output ?? outcome.text;
      return [
        { type: EventType.SUBAGENT_FINISHED, subagentRunId, result, outcome: { type: 'success' } },
      ];
    }
    const { message, code } =
      outcome.kind === 'failed'
        ? toldRecord(outcome.error)
        : { message: 'The nested run was cancelled.', code: 'RUN_CANCELLED' };
    return [{ type: EventType.SUBAGENT_ERROR, subagentRunId, message, code }];
  }

  /** The run around them rests: those of its questions are suspended, the others end as it does. */
  leaveAll(ending: Ending): readonly AGUIEvent[] {
    const open = [...this.#open].reverse();
    this.#open.clear();
    return open.map((subagentRunId): AGUIEvent => {
      if (ending.kind === 'interrupted') {
        const interruptIds = ending.interrupts.flatMap((interrupt) =>
          interrupt.subagentRunId === subagentRunId ? [interrupt.id] : [],
        );
        return {
          type: EventType.SUBAGENT_FINISHED,
          subagentRunId,
          outcome: { type: 'suspended', ...(interruptIds.length === 0 ? {} : { interruptIds }) },
        };
      }
      if (ending.kind === 'pending')
        return { type: EventType.SUBAGENT_FINISHED, subagentRunId, outcome: { type: 'suspended' } };
      return {
        type: EventType.SUBAGENT_ERROR,
        subagentRunId,
        message: 'The run around it has ended.',
        code: ending.kind === 'failed' ? ending.error.code : 'RUN_ENDED',
      };
    });
  }
}
