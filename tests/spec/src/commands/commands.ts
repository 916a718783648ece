import type { RunId, SignalKind, WaitResolution } from '@hexagent/agent-core';
import { isTerminal } from '@hexagent/agent-core';
import fc from 'fast-check';
import { decide, noteDecision, truthOf } from './decide.ts';
import { type Expected, ExpectedRun, type OpenQuestion } from './expected.ts';
import { logOf, look, must, shown } from './look.ts';
import type { Leaving } from './machine.ts';
import { asked, type Plan, plan } from './plan.ts';
import { type At, LEASE_MS, type Site } from './site.ts';

/** One thing that somebody does, told to the model and to the product. */
export type Command = fc.AsyncCommand<Expected, Site>;

const leaves: fc.Arbitrary<At['leaves']> = fc.option(
  fc.record({
    after: fc.nat({ max: 14 }),
    how: fc.constantFrom<Leaving>('dies', 'dies', 'stalls'),
  }),
  { nil: undefined, freq: 2 },
);
const at: fc.Arbitrary<At> = fc.record({ slot: fc.nat({ max: 1 }), leaves });
const leavingOf = ({ leaves }: At): string =>
  leaves === undefined ? '' : `, which ${leaves.how} after ${leaves.after}`;
const whereOf = (at: At): string => `on ${at.slot}${leavingOf(at)}`;
const pick = fc.nat({ max: 5 });

function command(
  text: string,
  run: (expected: Expected, site: Site) => Promise<void>,
  check: (expected: Readonly<Expected>) => boolean = () => true,
): Command {
  return {
    check,
    run: async (expected, site) => {
      await run(expected, site);
      await look(expected, site);
    },
    toString: () => text,
  };
}

const runAt = ({ runs }: Expected, index: number): ExpectedRun =>
  runs[index % runs.length] as ExpectedRun;
const questionAt = ({ questions }: Expected, index: number): OpenQuestion =>
  questions[index % questions.length] as OpenQuestion;
const hasRun = ({ runs }: Pick<Expected, 'runs'>): boolean => runs.length > 0;
const hasQuestion = ({ questions }: Pick<Expected, 'questions'>): boolean => questions.length > 0;

/** What a conversation does with a second run while one is open; conversations have numbers. */
const ADMISSIONS = ['reject', 'queue', 'interrupt'] as const;

/** A run is started; a client that gets no answer sends the same again under the same key. */
function start(given: { conversation: number; plan: Plan; at: At }): Command {
  const admission = ADMISSIONS[given.conversation] ?? 'reject';
  return command(
    `start ${JSON.stringify(given.plan)} in ${given.conversation} (${admission}) ${whereOf(given.at)}`,
    async (expected, site) => {
      const key = expected.name();
      const conversation = `${site.agent}-${given.conversation}`;
      const open = expected.openIn(conversation);
      const { value, code, again } = await site.ask(
        (app) =>
          app.runs.start(
            site.agent,
            { message: asked(given.plan), conversationId: conversation, admission },
            site.caller(app, key),
          ),
        given.at,
      );
      if (open !== undefined && admission === 'reject') {
        must(code === 'CONVERSATION_BUSY', `${open.key} is open, and ${key} is ${code}`);
        return;
      }
      must(value !== undefined, `${key} is not started: ${code}`);
      if (open !== undefined && admission === 'interrupt') {
        open.cancelled = true;
        open.cancelUnread = again;
      }
      const { runId } = value;
      expected.runs.push(
        new ExpectedRun({ key, runId, conversation, admission, plan: given.plan }),
      );
    },
  );
}

/** A run is started from what another one has become. The other one stays as it is. */
function fork(given: { run: number; plan: Plan; at: At }): Command {
  return command(
    `fork ${given.run} for ${JSON.stringify(given.plan)} ${whereOf(given.at)}`,
    async (expected, site) => {
      const parent = runAt(expected, given.run);
      const { status } = await shown(site, parent);
      if (site.isOrphan(parent.runId) || status === 'created') return;
      const atSeq = (await logOf(site, parent)).at(-1)?.seq ?? 0;
      const key = expected.name();
      const { value, code } = await site.ask(
        (app) =>
          app.runs.fork(
            parent.runId,
            { atSeq, instruction: asked(given.plan) },
            site.caller(app, key),
          ),
        given.at,
      );
      // An effect that is under way or in doubt belongs to the parent.
      if (code === 'FORK_NOT_SETTLED') return;
      must(value !== undefined, `${parent.key} is not forked: ${code}`);
      const { runId } = value;
      const conversation = `fork ${key}`;
      expected.runs.push(
        new ExpectedRun({ key, runId, conversation, admission: undefined, plan: given.plan }),
      );
    },
    hasRun,
  );
}

/** The same start again: the same run. */
function startAgain(given: { run: number; at: At }): Command {
  return command(
    `start ${given.run} again ${whereOf(given.at)}`,
    async (expected, site) => {
      const run = runAt(expected, given.run);
      // A fork has a door of its own.
      if (run.admission === undefined) return;
      const { value, code } = await site.ask(
        (app) =>
          app.runs.start(
            site.agent,
            {
              message: asked(run.plan),
              conversationId: run.conversation,
              admission: run.admission ?? 'reject',
            },
            site.caller(app, run.key),
          ),
        given.at,
      );
      must(value?.runId === run.runId, `${run.key} is started again: ${value?.runId ?? code}`);
    },
    hasRun,
  );
}

type Choice = 'approve' | 'reject' | 'modify' | 'defer' | 'abandon';

/** What the chooser says to a question of this kind. */
function resolutionTo(site: Site, question: OpenQuestion, choice: Choice): WaitResolution {
  if (question.kind === 'event') return { decision: 'answer', value: choice };
  if (question.kind === 'recovery')
    return choice === 'abandon' && question.call !== undefined
      ? { decision: 'abandon' }
      : truthOf(site, question);
  if (choice === 'modify') return { decision: 'modify', input: { id: `${question.call?.id}!` } };
  return { decision: choice === 'abandon' ? 'approve' : choice };
}

function answer(given: { question: number; choice: Choice; at: At }): Command {
  return command(
    `answer ${given.question} with ${given.choice} ${whereOf(given.at)}`,
    async (expected, site) => {
      const question = questionAt(expected, given.question);
      if (question.run.cancelled) return;
      await decide(site, question, resolutionTo(site, question, given.choice), given.at);
    },
    hasQuestion,
  );
}

/** Two people, at two machines, at once: one of them is first. */
function answerTwice(given: { question: number; one: Choice; other: Choice }): Command {
  return command(
    `answer ${given.question} with ${given.one} and ${given.other} at once`,
    async (expected, site) => {
      const question = questionAt(expected, given.question);
      if (question.run.cancelled || given.one === 'defer' || given.other === 'defer') return;
      const both = [given.one, given.other].map((choice, slot) => {
        const resolution = resolutionTo(site, question, choice);
        const answered = site.knock(
          (app) => app.runs.resolve(question.id, resolution, site.caller(app)),
          { slot },
        );
        return { resolution, answered };
      });
      const told = await Promise.all(
        both.map(async ({ resolution, answered }) => ({ resolution, answer: await answered })),
      );
      await site.settle();
      const [first, ...more] = told.filter(
        ({ answer: { code } }) => code !== 'WAIT_ALREADY_RESOLVED',
      );
      must(
        first !== undefined && (more.length === 0 || first.answer.code === 'WAIT_EXPIRED'),
        `${question.id} is answered ${more.length + 1} times`,
      );
      await noteDecision(site, { question, ...first });
    },
    hasQuestion,
  );
}

/** Somebody approves while somebody else cancels. */
function answerAndCancel(given: { question: number; slot: number }): Command {
  return command(
    `answer ${given.question} on ${given.slot} and cancel elsewhere at once`,
    async (expected, site) => {
      const question = questionAt(expected, given.question);
      const { run } = question;
      if (run.cancelled) return;
      const resolution = resolutionTo(site, question, 'approve');
      const [answered, cancelled] = await Promise.all([
        site.knock((app) => app.runs.resolve(question.id, resolution, site.caller(app)), {
          slot: given.slot,
        }),
        site.knock((app) => app.runs.cancel(run.runId, undefined, site.caller(app)), {
          slot: 1 - given.slot,
        }),
      ]);
      await site.settle();
      if (cancelled.code === undefined) run.cancelled = true;
      else must(cancelled.code === 'RUN_ENDED', `${run.key} is not cancelled: ${cancelled.code}`);
      if (answered.code === undefined || cancelled.code !== undefined)
        await noteDecision(site, { question, resolution, answer: answered });
    },
    hasQuestion,
  );
}

/** Any kind of signal that is not a decision; sent twice it counts once. */
function signal(given: { run: number; kind: Told; twice: boolean; at: At }): Command {
  return command(
    `send ${given.kind} to ${given.run}${given.twice ? ' twice' : ''} ${whereOf(given.at)}`,
    async (expected, site) => {
      const run = runAt(expected, given.run);
      const text = expected.name();
      const hasEnded = isTerminal((await shown(site, run)).status);
      const sent = { kind: given.kind, payload: { text }, dedupeKey: text };
      for (let time = 0; time < (given.twice ? 2 : 1); time += 1) {
        const { code } = await site.ask(
          (app) => app.runs.signal(run.runId, sent, site.caller(app)),
          time === 0 ? given.at : {},
        );
        const wanted = hasEnded ? 'RUN_ENDED' : undefined;
        must(code === wanted, `${given.kind} to ${run.key}: ${code ?? 'accepted'}`);
      }
      if (!hasEnded) note(run, given.kind, text);
    },
    hasRun,
  );
}

const TOLD = [
  'user-message',
  'steering-instruction',
  'follow-up',
  'pause',
  'resume',
  'scheduler-wake-up',
] as const satisfies readonly SignalKind[];
type Told = (typeof TOLD)[number];

function note(run: ExpectedRun, kind: Told, text: string): void {
  if (kind === 'user-message' || kind === 'steering-instruction') run.said.push(text);
  if (kind === 'follow-up') run.followUps.push(text);
  if (kind === 'pause') run.paused = true;
  if (kind === 'resume') run.paused = false;
}

/** What a call listens for happens. */
function event(given: { question: number; at: At }): Command {
  return command(
    `the event of ${given.question} happens ${whereOf(given.at)}`,
    async (expected, site) => {
      const question = questionAt(expected, given.question);
      const { run, call, kind, expiresAt = 0 } = question;
      if (kind !== 'event' || call === undefined || run.cancelled || site.isOrphan(run.runId))
        return;
      if (expiresAt <= site.clock.now()) return;
      const value = expected.name();
      const { code } = await site.ask(
        (app) =>
          app.runs.signal(
            run.runId,
            { kind: 'external-event', payload: { name: call.id, value }, dedupeKey: value },
            site.caller(app),
          ),
        given.at,
      );
      must(code === undefined, `an event for ${run.key}: ${code}`);
      if (site.isOrphan(run.runId)) call.unread ??= value;
      else call.decision = { said: value };
    },
    hasQuestion,
  );
}

function cancel(given: { run: number; at: At }): Command {
  return command(
    `cancel ${given.run} ${whereOf(given.at)}`,
    async (expected, site) => {
      const run = runAt(expected, given.run);
      const hasEnded = isTerminal((await shown(site, run)).status);
      const { code } = await site.ask(
        (app) => app.runs.cancel(run.runId, 'enough', site.caller(app)),
        given.at,
      );
      if (hasEnded) {
        must(
          code === 'RUN_ENDED' || (run.cancelled && code === undefined),
          `${run.key} is cancelled after its end: ${code}`,
        );
        return;
      }
      must(code === undefined, `${run.key} is not cancelled: ${code}`);
      run.cancelled = true;
    },
    hasRun,
  );
}

/** Time passes, and a worker takes up what it can. */
function timePasses(given: { ms: number; leaves: At['leaves'] }): Command {
  return command(`${given.ms} ms pass; a worker looks${leavingOf(given)}`, (_expected, site) =>
    site.timePasses(given.ms, given.leaves),
  );
}

/** Machines that have stalled go on, and learn what has become of their runs. */
function wake(): Command {
  return command('who has stalled goes on', (_expected, site) => site.wake());
}

/** A machine is switched off while nothing happens on it. */
function kill(given: { slot: number }): Command {
  return command(`machine ${given.slot} dies`, async (_expected, site) => site.kill(given.slot));
}

/** Somebody asks for a run, wherever it is. */
function attach(given: { run: number; at: At }): Command {
  return command(
    `attach to ${given.run} ${whereOf(given.at)}`,
    async (expected, site) => {
      const run = runAt(expected, given.run);
      const { value, code } = await site.ask(
        async (app): Promise<RunId> => (await app.runs.resume(run.runId, site.caller(app))).runId,
        given.at,
      );
      must(value === run.runId, `${run.key} is attached to: ${value ?? code}`);
    },
    hasRun,
  );
}

const choice = fc.constantFrom<Choice>(
  'approve',
  'approve',
  'reject',
  'modify',
  'defer',
  'abandon',
);

const starts = fc.record({ conversation: fc.nat({ max: 2 }), plan, at }).map(start);
const answers = fc.record({ question: pick, choice, at }).map(answer);

/** What a history begins with: before there is a run nothing happens. */
export const FIRST: fc.Arbitrary<Command> = starts;

/** Everything that may happen, in any order; what is there twice happens twice as often. */
export const COMMANDS: readonly fc.Arbitrary<Command>[] = [
  starts,
  starts,
  fc.record({ run: pick, at }).map(startAgain),
  fc.record({ run: pick, plan, at }).map(fork),
  answers,
  answers,
  answers,
  fc.record({ question: pick, one: choice, other: choice }).map(answerTwice),
  fc.record({ question: pick, slot: fc.nat({ max: 1 }) }).map(answerAndCancel),
  fc.record({ run: pick, kind: fc.constantFrom(...TOLD), twice: fc.boolean(), at }).map(signal),
  fc.record({ question: pick, at }).map(event),
  fc.record({ run: pick, at }).map(cancel),
  fc.record({ ms: fc.constantFrom(1_000, 2 * LEASE_MS, 200_000), leaves }).map(timePasses),
  fc.record({ ms: fc.constant(2 * LEASE_MS), leaves }).map(timePasses),
  fc.record({ slot: fc.nat({ max: 1 }) }).map(kill),
  fc.constant(undefined).map(wake),
  fc.record({ run: pick, at }).map(attach),
];
