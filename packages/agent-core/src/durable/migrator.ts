import type { Stop } from '../base/abort.ts';
import { definePort, type Port } from '../base/port.ts';

/** Brings a schema up to date; `hexagent migrate` runs every one that is bound. */
export interface Migrator {
  readonly name: string;
  /** Names of the migrations that are not applied. */
  pending(stop: Stop): Promise<readonly string[]>;
  /** Applies them; answers their names. */
  migrate(stop: Stop): Promise<readonly string[]>;
}

export const Migrator: Port<Migrator, 'many'> = definePort<Migrator>('migrator', { arity: 'many' });
