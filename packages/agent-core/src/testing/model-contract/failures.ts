import type { Rule } from '../rule.ts';
import { asking, failing, hold, same, serverOf, textIn } from './checks.ts';
import type { ModelSubject, ScriptedAnswer } from './model-subject.ts';

const truncated: readonly {
  readonly name: string;
  readonly ending: 'end' | 'reset';
}[] = [
  { name: 'an answer that ends without a reason is an error that may be retried', ending: 'end' },
  { name: 'a connection that breaks is an error that may be retried', ending: 'reset' },
];

/** How an answer fails. */
export const failures: readonly Rule<ModelSubject>[] = [
  ...truncated.map(
    ({ name, ending }): Rule<ModelSubject> => ({
      name,
      needs: 'server',
      readOnly: true,
      check: async (subject) => {
        serverOf(subject).answer({ kind: 'stream', text: ['par'], ending });
        const { events, error } = await failing(subject.model, asking('Hello'));
        same(textIn(events), 'par', 'the text before the error');
        hold(error.retryable, `${error.code} is not retryable`);
        same(error.code, 'MODEL_STREAM_TRUNCATED', 'the code');
      },
    }),
  ),
  {
    name: 'a failure inside the stream is an error in the words of the server, and never a finish',
    needs: 'server',
    readOnly: true,
    check: async (subject) => {
      const message = 'the engine has died';
      serverOf(subject).answer({ kind: 'stream', text: ['par'], ending: 'error', message });
      const { events, error } = await failing(subject.model, asking('Hello'));
      same(textIn(events), 'par', 'the text before the error');
      hold(
        events.every(({ type }) => type !== 'finish'),
        'there is a finish before the error',
      );
      hold(error.message.includes(message), error.message);
    },
  },
  {
    name: 'an empty stream is an error',
    needs: 'server',
    readOnly: true,
    check: async (subject) => {
      const empty: ScriptedAnswer = { kind: 'stream', ending: 'end' };
      serverOf(subject).answer(...Array.from({ length: 10 }, () => empty));
      const { events } = await failing(subject.model, asking('Hello'));
      same(events, [], 'the events before the error');
    },
  },
  {
    name: 'a refused key is not tried again, and appears in no error text',
    needs: 'server',
    readOnly: true,
    check: async (subject) => {
      const { model, apiKey } = subject;
      const server = serverOf(subject);
      const before = server.requests();
      server.answer({ kind: 'refusal', status: 401, message: `Wrong key: ${String(apiKey)}` });
      const { error } = await failing(model, asking('Hello'));
      same(error.code, 'MODEL_AUTHENTICATION', 'the code');
      same(server.requests() - before, 1, 'requests');
      const shown = `${error.message} ${error.mend} ${String(error.stack)} ${String(error.cause)}`;
      hold(apiKey === undefined || !shown.includes(apiKey), 'the key is in the error');
    },
  },
  {
    name: 'a refused request is not tried again',
    needs: 'server',
    readOnly: true,
    check: async (subject) => {
      const server = serverOf(subject);
      const before = server.requests();
      server.answer({ kind: 'refusal', status: 400, message: 'temperature must be below 2' });
      const { error } = await failing(subject.model, asking('Hello'));
      same(error.code, 'MODEL_REQUEST_INVALID', 'the code');
      hold(error.message.includes('temperature must be below 2'), error.message);
      same(server.requests() - before, 1, 'requests');
    },
  },
];
