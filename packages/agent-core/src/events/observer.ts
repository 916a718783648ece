import type { JsonObject } from '../base/json.ts';
import { definePort, type Port } from '../base/port.ts';

/** Wraps a piece of work of a run: a span, a timing, a log line. A sink: what it sees is guarded. */
export interface Observer {
  around<T>(
    span: {
      readonly kind: 'run' | 'model' | 'tool' | 'commit' | 'agent';
      readonly name: string;
      readonly attributes: JsonObject;
    },
    /** Call it once and answer what it answers; `note` adds attributes that are known later. */
    work: (note: (attributes: JsonObject) => void) => Promise<T>,
  ): Promise<T>;
}

export const Observer: Port<Observer> = definePort<Observer>('observer');
