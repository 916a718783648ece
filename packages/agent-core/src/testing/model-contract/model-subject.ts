import type { AgentModel } from '../../model/agent-model.ts';
import type { Usage } from '../../vocabulary/usage.ts';

/** A model to hold against its contract. */
export type ModelSubject = {
  readonly model: AgentModel;
  /** The server before which the model stands, for the rules that need `server`. */
  readonly server?: ScriptedServer;
  /** The key that the model was made with; the rules look for it in errors. */
  readonly apiKey?: string;
};

/**
 * A server that answers as it is told, in the wire format of the adapter under test. Each adapter
 * brings its own; a request that was told nothing gets a short text.
 */
export interface ScriptedServer {
  /** The answers of the next requests, in order. */
  answer(...answers: readonly ScriptedAnswer[]): void;
  /** How many requests for an answer have come. */
  requests(): number;
  /** Resolves once the client has closed the connection of that request (from 0) before its end. */
  broken(request: number): Promise<void>;
}

export type ScriptedAnswer =
  | {
      readonly kind: 'stream';
      readonly reasoning?: string;
      /** One network write each. */
      readonly text?: readonly string[];
      readonly calls?: readonly ScriptedCall[];
      readonly usage?: Usage;
      /**
       * How it goes on after that: `finish` (default) says why it stopped; `end` closes without a
       * reason; `silence` keeps the connection open; `reset` breaks it; `error` reports a failure inside
       * the stream, in the server's own form.
       */
      readonly ending?: 'finish' | 'end' | 'silence' | 'reset' | 'error';
      /** The text of that failure. */
      readonly message?: string;
    }
  /** The text of the last user message, one character a write, each in a turn of its own. */
  | { readonly kind: 'echo' }
  /** An HTTP error with that text in the server's usual body. */
  | { readonly kind: 'refusal'; readonly status: number; readonly message: string };

export type ScriptedCall = {
  /** Which tool of the request, from 0; the server uses the name it was sent. */
  readonly tool: number;
  /** JSON text, or what is to be a broken one; empty sends none. */
  readonly arguments: string;
};
