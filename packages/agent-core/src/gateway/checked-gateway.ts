import { isJsonObject } from '../base/json.ts';
import { RUN_STATUSES } from '../vocabulary/state.ts';
import { WAIT_KINDS, WAIT_STATUSES } from '../vocabulary/wait.ts';
import { checkCaller } from './access.ts';
import type { Caller } from './caller.ts';
import { checkKey, checkReason, givenId, givenJson, givenName, givenQuery } from './given.ts';
import type { RunGateway } from './run-gateway.ts';

const RUN_FILTERS = {
  texts: ['agent', 'conversationId', 'after'],
  words: { status: RUN_STATUSES },
};
const GRANT_FILTERS = { texts: ['after'], words: {} };
const CONVERSATION_FILTERS = { texts: ['after'], words: {} };
const WAIT_FILTERS = {
  texts: ['runId', 'agent', 'after'],
  words: { kind: WAIT_KINDS, status: WAIT_STATUSES },
};

/**
 * The doors as the world reaches them, whatever it hands in: who knocks is checked first, then what they bring. Past here
 * ids are texts, payloads are JSON of a size that can be stored, and nobody outside can change them.
 */
export function checkedGateway(doors: RunGateway): RunGateway {
  const checked = async <T>(caller: Caller, open: () => Promise<T>): Promise<T> => {
    checkCaller(caller);
    return open();
  };
  return {
    ...doors,
    start: (agent, input, caller) =>
      checked(caller, () => {
        checkKey(caller.requestKey, { at: 'requestKey', subject: 'The start' });
        return doors.start(givenName(agent), input, caller);
      }),
    // What is no object quotes no cursor: it is refused as one when it is read, as everything is at this door.
    watch: (runId, options, caller) =>
      doors.watch(runId, isJsonObject(options) ? options : { after: Number.NaN }, caller),
    signal: (runId, signal, caller) =>
      checked(caller, () => doors.signal(runId, givenJson(signal, 'The signal'), caller)),
    resolve: (waitId, resolution, caller) =>
      checked(caller, () =>
        doors.resolve(givenId(waitId), givenJson(resolution, 'The answer'), caller),
      ),
    cancel: (runId, reason, caller) =>
      checked(caller, () => {
        checkReason(reason);
        return doors.cancel(runId, reason, caller);
      }),
    fork: (runId, options, caller) =>
      checked(caller, () => {
        checkKey(caller.requestKey, { at: 'requestKey', subject: 'The fork' });
        return doors.fork(givenId(runId), givenJson(options, 'The fork'), caller);
      }),
    grants: (query, caller) =>
      checked(caller, () => doors.grants(givenQuery(query, GRANT_FILTERS), caller)),
    revokeGrant: (id, caller) => checked(caller, () => doors.revokeGrant(givenId(id), caller)),
    conversation: (conversationId, query, caller) =>
      checked(caller, () =>
        doors.conversation(
          givenName(conversationId),
          givenQuery(query, CONVERSATION_FILTERS),
          caller,
        ),
      ),
    list: (query, caller) =>
      checked(caller, () => doors.list(givenQuery(query, RUN_FILTERS), caller)),
    waits: (query, caller) =>
      checked(caller, () => doors.waits(givenQuery(query, WAIT_FILTERS), caller)),
  };
}
