import type { AgentModel, Stop } from '@hexagent/agent-core';
import {
  retrying,
  withinTotalLimit,
  withRetries,
  withTotalLimit,
} from '@hexagent/agent-core/adapter';
import { chatModel } from './chat-model.ts';
import { settingsOf } from './settings.ts';
import type { VllmOptions } from './vllm-options.ts';

/** A model of a server that can be asked what it has. */
export interface VllmModel extends AgentModel {
  /**
   * Asks the server for its models, so that `capabilities` knows the context window. Happens by
   * itself where no model is named.
   */
  discover(stop: Stop): Promise<void>;
  /** Closes idle connections; running streams go on. */
  close(): void;
}

/**
 * The chat-completions API of one server as an `AgentModel`, retries included (option `retries`).
 *
 * Throws `INPUT_INVALID` with every problem of the options; connects to nothing before it is asked.
 */
export function vllmModel(options: VllmOptions): VllmModel {
  const settings = settingsOf(options);
  const { clock, random, retries, timeouts, baseUrl } = settings;
  const single = chatModel(settings);
  const limit = { totalMs: timeouts.totalMs, clock, at: baseUrl };
  return {
    ...withTotalLimit(withRetries(single, { retries, clock, random }), limit),
    discover: (stop) =>
      withinTotalLimit(
        (call) =>
          retrying(() => single.discover(call), { retries, clock, random, signal: call.signal }),
        stop,
        limit,
      ),
    close: () => single.close(),
  };
}
