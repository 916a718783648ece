import { defineAgent } from '@hexagent/agent-core';

/** The loop stays the framework's; only the answer to one kind of signal is ours. */
export const steeredAgent = defineAgent({
  name: 'steered-agent',
  accepts: ['steering-instruction', 'cancel'],
  signals: {
    'steering-instruction': async function* (signal) {
      yield {
        kind: 'progress',
        message: `steering: ${signal.payload.instruction}`,
        step: 'steering',
      };
    },
  },
});
