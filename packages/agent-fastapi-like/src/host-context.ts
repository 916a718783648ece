import type { RunGateway } from '@hexagent/agent-core';
import type { Operation } from './operation/operation.ts';
import type { ScopeSettings } from './settings.ts';

/** What every part of the host works with. */
export type HostContext = {
  readonly gateway: RunGateway;
  readonly settings: ScopeSettings;
  readonly operation: Operation;
  /** Where the routes begin: empty, or a path without a slash at its end. */
  readonly prefix: string;
};
