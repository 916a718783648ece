import type { JsonValue } from '@hexagent/agent-core/adapter';

/** Levels that can be walked one inside the other, far below what the stack of any platform bears. */
const MOST_LEVELS = 500;

/** Whether a value is nested deeper than it can safely be walked. Looks level by level: this itself needs no stack. */
export function isTooDeep(value: JsonValue): boolean {
  let level: readonly JsonValue[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MOST_LEVELS) return true;
    level = level.flatMap((one) =>
      typeof one === 'object' && one !== null ? Object.values(one) : [],
    );
  }
  return false;
}
