import type { HeaderReader } from '@hexagent/agent-core/adapter';
import type { Watch } from './deadlines.ts';

export type WireRequest = {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** A response whose body is read as text, as it comes. */
export interface WireResponse {
  readonly status: number;
  readonly headers: HeaderReader;
  /** Everything that has arrived since the last read, at least one character; undefined at the end. */
  read(): Promise<string | undefined>;
  /** The answer is complete: lets the connection be used again. */
  release(): void;
  /** Gives the connection up. A read that is pending rejects with the reason. */
  close(reason: unknown): void;
}

/**
 * The way to a server. Rejects with what the platform throws, and with the reason of the watch once
 * it is stopped; then the connection is given up. The caller classifies.
 */
export interface Transport {
  send(request: WireRequest, watch: Watch): Promise<WireResponse>;
  /** Closes idle connections. */
  close(): void;
}
