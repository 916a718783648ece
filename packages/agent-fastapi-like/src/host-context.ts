import type { RunGateway } from '@hexagent/agent-core';
import type { Operation } from './operation/operation.ts';
import type { HostSettings } from './options.ts';

/** What every part of the host works with. */
export type HostContext = {
  readonly gateway: RunGateway;
  readonly settings: HostSettings;
  readonly operation: Operation;
};
