import type { Stop } from '../base/abort.ts';
import { definePort, type Port } from '../base/port.ts';
import type { Tool } from '../tools/tool.ts';
import type { RunContext } from '../vocabulary/run-context.ts';

/** What a source gives one run. */
export interface OpenedTools {
  readonly tools: readonly Tool[];
  /** Added to the system message. */
  readonly instructions?: string;
  close(): Promise<void>;
}

/** Tools that are found at run time: an MCP server, a context provider. Opened per run, closed on every exit. */
export interface ToolSource {
  readonly id: string;
  open(context: RunContext, stop: Stop): Promise<OpenedTools>;
}

export const ToolSource: Port<ToolSource, 'many'> = definePort<ToolSource>('tool-source', {
  arity: 'many',
});
