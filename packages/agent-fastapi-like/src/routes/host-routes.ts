import type { Route } from '../api/route.ts';
import type { ScopeSettings } from '../settings.ts';
import { AGENT_ROUTES } from './agents.ts';
import { CONVERSATION_ROUTES } from './conversations.ts';
import { EVIDENCE_ROUTES } from './evidence.ts';
import { GRANT_ROUTES } from './grants.ts';
import { HEALTH_ROUTES } from './health.ts';
import { metricsRoutes } from './metrics.ts';
import { RUN_ROUTES } from './runs.ts';
import { STEERING_ROUTES } from './steering.ts';
import { WAIT_ROUTES } from './waits.ts';

/** The doors of the gateway as routes. Nothing is decided here: who may see what is the gateway's. */
const DOORS: readonly Route[] = [
  ...AGENT_ROUTES,
  ...RUN_ROUTES,
  ...STEERING_ROUTES,
  ...EVIDENCE_ROUTES,
  ...WAIT_ROUTES,
  ...GRANT_ROUTES,
  ...CONVERSATION_ROUTES,
  ...HEALTH_ROUTES,
];

/** Every route of a host with these settings. */
export function hostRoutes({ metrics }: Pick<ScopeSettings, 'metrics'>): readonly Route[] {
  return [...DOORS, ...metricsRoutes(metrics)];
}

/** What the groups of the document are about. */
export const TAGS = [
  { name: 'agents', description: 'What there is to start, and starting it.' },
  { name: 'runs', description: 'Reading runs, watching them, steering them.' },
  { name: 'evidence', description: 'What a run has done, as a chain that can be verified.' },
  { name: 'waits', description: 'What runs wait for, answering it, and approvals that are kept.' },
  { name: 'conversations', description: 'What was said.' },
  { name: 'operation', description: 'Whether the host works.' },
] as const;
