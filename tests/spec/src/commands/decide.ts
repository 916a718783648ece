import type { WaitResolution } from '@hexagent/agent-core';
import type { OpenQuestion } from './expected.ts';
import { must, shown } from './look.ts';
import type { Answer, At, Site } from './site.ts';

/** What somebody says to a question that is not about taste: the truth about an effect, else yes. */
export function truthOf(site: Site, { kind, call, callId }: OpenQuestion): WaitResolution {
  if (kind === 'event') return { decision: 'answer', value: 'late' };
  if (kind !== 'recovery' || callId === undefined || call === undefined)
    return { decision: 'approve' };
  return site.world.of(callId).length > 0
    ? { decision: 'happened', result: `${call.tool} ${call.id}` }
    : { decision: 'did-not-happen' };
}

/** Answers a question, and notes what may be expected after that. */
export async function decide(
  site: Site,
  question: OpenQuestion,
  resolution: WaitResolution,
  at: At = {},
): Promise<void> {
  const answer = await site.ask(
    (app) => app.runs.resolve(question.id, resolution, site.caller(app)),
    at,
  );
  await noteDecision(site, { question, resolution, answer });
}

/** First answer wins; one that comes too late changes nothing. */
export async function noteDecision(
  site: Site,
  given: {
    readonly question: OpenQuestion;
    readonly resolution: WaitResolution;
    readonly answer: Answer<void>;
  },
): Promise<void> {
  const { question, resolution, answer } = given;
  const { run, call, id, expiresAt } = question;
  const what = `${resolution.decision} to ${id} of ${run.key}: ${answer.code ?? 'accepted'}`;
  if (expiresAt !== undefined && expiresAt <= site.clock.now()) {
    must(answer.code === 'WAIT_EXPIRED', what);
    return;
  }
  if (answer.code === 'WAIT_ALREADY_RESOLVED' && answer.again) {
    // Who was asked before gave no answer: the answer that stands is this one.
    const stands = (await shown(site, run)).waits.find((wait) => wait.id === id)?.decision;
    must(stands === resolution.decision, `${what}: it was ${stands}`);
  } else must(answer.code === undefined, what);
  if (call === undefined) return;
  switch (resolution.decision) {
    case 'approve':
    case 'reject':
      call.decision = resolution.decision;
      break;
    case 'modify':
      call.decision = 'approve';
      call.edited = true;
      call.id = String(resolution.input['id']);
      break;
    case 'answer':
      call.decision = { said: String(resolution.value) };
      break;
    case 'abandon':
      call.abandoned = true;
      break;
    default:
      break;
  }
}
