import { definePort } from '@hexagent/agent-core';

export interface Payments {
  charge(cents: number, key: string, signal: AbortSignal): Promise<{ readonly id: string }>;
  find(key: string): Promise<{ readonly id: string } | undefined>;
}
export const Payments = definePort<Payments>('payments');
