import type { AgentError } from '../base/error.ts';
import { acceptFailure, acceptValue, errorParts } from './accept-value.ts';
import type { ActiveRun } from './active-run.ts';
import type { OpenCall } from './open-call.ts';
import { recordResult } from './record-result.ts';
import { askAboutOrphans, unknownEffect } from './recover-calls.ts';
import type { CallReturn } from './run-call.ts';
import { suspendCall } from './suspend-call.ts';

/** Takes in how a call came back; at once, unless something has to be asked or stored for it. */
export function acceptReturn(
  run: ActiveRun,
  open: OpenCall,
  returned: CallReturn,
): Promise<void> | undefined {
  open.running = false;
  switch (returned.kind) {
    case 'ok':
      return acceptValue(run, open, returned.value);
    case 'suspended': {
      const refused = suspendCall(run, open, returned.wait);
      if (refused !== undefined) failCall(run, open, refused);
      return undefined;
    }
    case 'error':
      failCall(run, open, returned.error);
      return undefined;
    case 'lost':
      return lose(run, open, returned.error);
  }
}

/** A failure that the model reads, or that ends the run: as the tool has it. */
function failCall(run: ActiveRun, open: OpenCall, error: AgentError): void {
  acceptFailure(run, open, error);
  if (open.tool?.definition.onError === 'fail') throw error;
}

/** A timeout or an abort after `started`: a read is told to the model as it is, an effect is unknown. */
async function lose(run: ActiveRun, open: OpenCall, error: AgentError): Promise<void> {
  if (run.abort.aborted) throw run.abort.reason;
  if (open.call.resume === 'retry') {
    recordResult(run, open, {
      outcome: 'error',
      content: errorParts(error),
      stage: 'failed',
      own: false,
    });
    return;
  }
  if (run.journal === undefined) {
    recordResult(run, open, {
      outcome: 'interrupted',
      content: errorParts(unknownEffect(open, error)),
      stage: 'unknown',
      own: false,
    });
    return;
  }
  await askAboutOrphans(run, [open]);
}
