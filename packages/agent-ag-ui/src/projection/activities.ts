import { type AGUIEvent, EventType } from '@ag-ui/core';
import type { EventOf, JsonObject } from '@hexagent/agent-core';
import { attributed, type Owner } from './attribution.ts';
import type { Place } from './place.ts';
import type { Tentative } from './tentative.ts';

type Activity = Extract<AGUIEvent, { type: EventType.ACTIVITY_SNAPSHOT }>;

/** What is going on, in one message for each call or step: the next replaces it. */
export function progressOf(
  { message, detail, callId }: EventOf<'progress'>,
  { stepId, seq, owner, runId }: Place & { readonly runId: string },
  tentative: Tentative,
): Activity {
  const messageId = `${callId ?? stepId ?? runId}.progress`;
  tentative.note('progress', messageId, { stepId, seq });
  const content = {
    message,
    ...(detail === undefined ? {} : { detail }),
    ...(callId === undefined ? {} : { toolCallId: callId }),
  };
  return activity('progress', { messageId, content, owner });
}

/** Progress that was taken back: a client keeps activities, so it is told to show none. */
export function withdrawn(messageId: string, owner: Owner): Activity {
  return activity('progress', { messageId, content: { message: '', withdrawn: true }, owner });
}

/** One message for each artifact: the next version of it replaces it. */
export function artifactOf(
  { artifactId, name, parts }: EventOf<'artifact'>,
  { owner, runId }: { readonly owner: Owner; readonly runId: string },
): Activity {
  const content = { artifactId, ...(name === undefined ? {} : { name }), parts: [...parts] };
  return activity('artifact', { messageId: `${runId}.artifact.${artifactId}`, content, owner });
}

function activity(
  activityType: 'progress' | 'artifact',
  {
    messageId,
    content,
    owner,
  }: { readonly messageId: string; readonly content: JsonObject; readonly owner: Owner },
): Activity {
  return {
    type: EventType.ACTIVITY_SNAPSHOT,
    messageId,
    activityType,
    content,
    ...attributed(owner),
  };
}
