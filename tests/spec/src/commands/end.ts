import { type Envelope, type EvidenceRow, isTerminal, verifyEvidence } from '@hexagent/agent-core';
import { decide, truthOf } from './decide.ts';
import { deedsOf, type Expected, type ExpectedRun } from './expected.ts';
import { logOf, look, must, shown } from './look.ts';
import { LEASE_MS, type Site } from './site.ts';

/** Leases run out, people answer, workers look: a few times, and every run must have ended. */
const ROUNDS = 40;

/** From here on nobody leaves, and who stalled comes back late. Brings every run to its end, then compares what came of it. */
export async function finish(expected: Expected, site: Site): Promise<void> {
  for (let round = 0; expected.runs.some(({ ended }) => !ended); round += 1) {
    must(round < ROUNDS, 'not every run comes to its end');
    await site.timePasses(2 * LEASE_MS);
    if (round === 1) await site.wake();
    await look(expected, site);
    for (const run of expected.runs) {
      if (!run.paused || run.cancelled) continue;
      const { code } = await site.ask((app) =>
        app.runs.signal(run.runId, { kind: 'resume', payload: {} }, site.caller(app)),
      );
      must(code === undefined, `${run.key} cannot be resumed: ${code}`);
      run.paused = false;
    }
    for (const question of expected.questions) {
      if (question.run.cancelled) continue;
      await decide(site, question, truthOf(site, question));
    }
    await look(expected, site);
  }
  await site.wake();
  for (const run of expected.runs) await checkEnd(site, run);
}

async function checkEnd(site: Site, run: ExpectedRun): Promise<void> {
  const { status, waits } = await shown(site, run);
  const who = `${run.key} (${run.runId})`;
  must(isTerminal(status), `${who} ends as ${status}`);
  const open = waits.filter((wait) => wait.status === 'pending' || wait.status === 'resolved');
  must(open.length === 0, `${who} has ended, and waits: ${open.map(({ id }) => id).join(', ')}`);
  checkDeeds(site, run);
  checkLog(run, await logOf(site, run));
  await checkEvidence(site, run);
}

/** Every effect exactly once, with the arguments that were approved; none that nobody approved. */
function checkDeeds(site: Site, run: ExpectedRun): void {
  for (const [at, batch] of run.calls.entries()) {
    for (const [index, call] of batch.entries()) {
      const deeds = site.world.deeds.filter(
        ({ callId }) => callId.startsWith(`${run.runId}.`) && run.placeOf(callId).call === call,
      );
      const [least, most] = deedsOf(call);
      const what = `call ${at}/${index} (${call.tool}) of ${run.key} took effect ${deeds.length} times`;
      must(deeds.length <= most, what);
      must(run.cancelled || deeds.length >= least, what);
      must(
        !run.cancelled || deeds.length === 0 || call.decision !== undefined || !asks(call.tool),
        `${what}, and nobody approved it`,
      );
      for (const { id } of deeds) must(id === call.id, `${what}: with ${id}, not ${call.id}`);
    }
  }
}

const asks = (tool: string): boolean => tool === 'sign' || tool === 'hand';

/** One start, one end, one result a call; numbers only rise; the answer is what the user was told. */
function checkLog(run: ExpectedRun, log: readonly Envelope[]): void {
  const who = `the log of ${run.key} (${run.runId})`;
  log.forEach(({ seq }, index) => {
    must(index === 0 || seq > (log[index - 1]?.seq ?? 0), `${who} goes back at ${seq}`);
  });
  const count = (type: string): number => log.filter(({ event }) => event.type === type).length;
  must(count('run-started') === 1, `${who} has ${count('run-started')} starts`);
  must(count('run-finished') === 1, `${who} has ${count('run-finished')} ends`);
  const end = log.at(-1)?.event;
  must(end?.type === 'run-finished', `${who} ends with ${end?.type}`);
  const results = log.flatMap(({ event }) =>
    event.type === 'tool-call-result' ? [event.callId] : [],
  );
  must(
    new Set(results).size === results.length,
    `${who} has a result twice: ${results.join(', ')}`,
  );
  if (run.cancelled) {
    must(end.outcome.kind === 'cancelled', `${who} ends as ${end.outcome.kind}`);
    return;
  }
  must(end.outcome.kind === 'completed', `${who} ends as ${JSON.stringify(end.outcome)}`);
  must(
    end.outcome.text === JSON.stringify(run.told),
    `${who} says ${end.outcome.text}, not ${JSON.stringify(run.told)}`,
  );
  const shownText = textIn(log);
  must(
    shownText.endsWith(end.outcome.text),
    `${who} shows ${shownText}, and says ${end.outcome.text}`,
  );
}

/** The text of messages, without what was taken back. */
function textIn(log: readonly Envelope[]): string {
  let shown: { readonly seq: number; readonly step: string | undefined; readonly text: string }[] =
    [];
  for (const { seq, event, stepId } of log) {
    if (event.type === 'message-delta') shown.push({ seq, step: stepId, text: event.delta });
    if (event.type !== 'rewound') continue;
    const { steps, after } = event;
    shown = shown.filter(
      (one) =>
        !(one.step !== undefined && steps.includes(one.step)) &&
        !(after !== undefined && one.seq > after),
    );
  }
  return shown.map(({ text }) => text).join('');
}

async function checkEvidence(site: Site, run: ExpectedRun): Promise<void> {
  const { value: rows = [], code } = await site.ask(async (app) => {
    const all: EvidenceRow[] = [];
    for (;;) {
      const page = await app.runs.evidence(
        run.runId,
        { after: all.at(-1)?.seq ?? 0 },
        site.caller(app),
      );
      if (page.length === 0) return all;
      all.push(...page);
    }
  });
  must(code === undefined && rows.length > 0, `${run.key} has no evidence: ${code}`);
  const report = verifyEvidence(rows);
  must(report === undefined, `the evidence of ${run.key}: ${JSON.stringify(report)}`);
}
