import type { App, Caller, Message } from '@hexagent/agent-core';
import type { CliIo } from '../io/cli-io.ts';
import type { Interrupts } from '../io/interrupts.ts';
import type { LineReader } from '../io/line-reader.ts';
import type { Output } from '../render/output.ts';

/** One chat on one terminal. */
export type ChatSession = {
  readonly app: App;
  readonly caller: Caller;
  readonly io: CliIo;
  readonly output: Output;
  readonly interrupts: Interrupts;
  readonly lines: LineReader;
  readonly agent: string;
  /** A durable agent keeps the conversation; else the chat sends what was said. */
  readonly memory: ChatMemory;
};

/** Where what was said is kept. */
export type ChatMemory =
  | { readonly kind: 'conversation'; readonly conversationId: string }
  | { readonly kind: 'history'; readonly messages: Message[] };
