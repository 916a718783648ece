import { connections } from './connections.ts';
import { frontendTools } from './frontend-tools.ts';
import { interrupts } from './interrupts.ts';
import { plain } from './plain.ts';
import type { Scenario } from './scenario.ts';

export const scenarios: readonly Scenario[] = [
  ...plain,
  ...interrupts,
  ...frontendTools,
  ...connections,
];
