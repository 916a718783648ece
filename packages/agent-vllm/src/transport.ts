import type { HeaderReader } from '@hexagent/agent-core/adapter';

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
  /** Gives the connection up. */
  close(): void;
}

export type Exchange = {
  /** Rejects what is open with its reason, and gives the connection up. */
  readonly signal: AbortSignal;
  readonly onConnect: () => void;
  /** Some bytes have come. */
  readonly onBytes: () => void;
};

/** The way to a server. Rejects with what the platform throws; the caller classifies it. */
export interface Transport {
  send(request: WireRequest, exchange: Exchange): Promise<WireResponse>;
  /** Closes idle connections. */
  close(): void;
}
