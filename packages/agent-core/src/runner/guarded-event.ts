import type { JsonValue } from '../base/json.ts';
import type { AgentEvent } from '../events/agent-event.ts';
import type { ValueGuard } from '../guard/value-guard.ts';

/**
 * An event as a sink may have it: its contents are masked, its numbers and ids are not (a step may well
 * have the number that is also somebody's age).
 */
export function guardedEvent(guard: ValueGuard, event: AgentEvent): AgentEvent {
  const masked = <T>(value: T): T => guard.json(value as JsonValue) as T;
  switch (event.type) {
    case 'message-delta':
    case 'reasoning-delta':
    case 'tool-call-args-delta':
      return { ...event, delta: guard.text(event.delta) };
    case 'progress':
      return {
        ...event,
        message: guard.text(event.message),
        ...(event.detail === undefined ? {} : { detail: masked(event.detail) }),
      };
    case 'tool-call-result':
      return { ...event, content: masked(event.content) };
    case 'artifact':
      return { ...event, parts: masked(event.parts) };
    case 'state-snapshot':
      return { ...event, snapshot: masked(event.snapshot) };
    case 'state-delta':
      return { ...event, patch: masked(event.patch) };
    case 'wait-opened':
    case 'wait-closed':
      return { ...event, wait: { ...event.wait, prompt: masked(event.wait.prompt) } };
    case 'run-paused':
      return {
        ...event,
        waits: event.waits.map((wait) => ({ ...wait, prompt: masked(wait.prompt) })),
        summary: { ...event.summary, text: guard.text(event.summary.text) },
      };
    case 'run-finished':
      return {
        ...event,
        outcome: masked(event.outcome),
        summary: { ...event.summary, text: guard.text(event.summary.text) },
      };
    default:
      return event;
  }
}
