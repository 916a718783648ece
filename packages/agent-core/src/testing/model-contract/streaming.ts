import type { Rule } from '../rule.ts';
import {
  answered,
  asking,
  callsIn,
  finishIn,
  hold,
  same,
  serverOf,
  soon,
  textIn,
  toolNamed,
} from './checks.ts';
import type { ModelSubject } from './model-subject.ts';

/** What an answer looks like. */
export const streaming: readonly Rule<ModelSubject>[] = [
  {
    name: 'the last event of the last batch is finish, and there is no other',
    readOnly: true,
    check: async ({ model }) => {
      const { batches, events } = await answered(model, asking('Say hello.'));
      finishIn(batches.at(-1) ?? []);
      same(events.filter(({ type }) => type === 'finish').length, 1, 'events of type finish');
      hold(
        batches.every((batch) => batch.length > 0),
        'there is an empty batch',
      );
    },
  },
  {
    name: 'text and reasoning come in the order and the pieces of the server',
    needs: 'server',
    readOnly: true,
    check: async (subject) => {
      serverOf(subject).answer({
        kind: 'stream',
        reasoning: 'Hm. ',
        text: ['Hel', 'lo, ', 'Zoë 👋'],
      });
      const { events } = await answered(subject.model, asking('Hello'));
      same(
        // What a provider keeps for itself may stand anywhere before the end.
        events.slice(0, -1).filter(({ type }) => type !== 'provider-state'),
        [
          { type: 'reasoning', text: 'Hm. ' },
          { type: 'text', text: 'Hel' },
          { type: 'text', text: 'lo, ' },
          { type: 'text', text: 'Zoë 👋' },
        ],
        'the events before finish',
      );
      same(finishIn(events).reason, 'stop', 'the reason');
    },
  },
  {
    name: 'usage is what the server said, once',
    needs: 'server',
    readOnly: true,
    check: async (subject) => {
      const usage = { inputTokens: 9, outputTokens: 3 };
      serverOf(subject).answer({ kind: 'stream', text: ['a', 'b', 'c'], usage });
      const { events } = await answered(subject.model, asking('Hello'));
      const { inputTokens, outputTokens } = finishIn(events).usage;
      same({ inputTokens, outputTokens }, usage, 'usage');
    },
  },
  {
    name: 'tool names go out and come back as the application has them',
    needs: 'server',
    readOnly: true,
    check: async (subject) => {
      const names = ['workspace.read', 'git.status', 'x'.repeat(80)];
      serverOf(subject).answer({
        kind: 'stream',
        calls: names.map((_, tool) => ({ tool, arguments: '{"q":"a"}' })),
      });
      const request = asking('Read.', { tools: names.map(toolNamed) });
      const { events } = await answered(subject.model, request);
      same(
        callsIn(events).map(({ name }) => name),
        names,
        'the names of the calls',
      );
      same(finishIn(events).reason, 'tool-calls', 'the reason');
    },
  },
  {
    name: 'parallel calls of one tool stay apart',
    needs: 'server',
    readOnly: true,
    check: async (subject) => {
      serverOf(subject).answer({
        kind: 'stream',
        text: ['Two.'],
        calls: [
          { tool: 0, arguments: '{"q":"first"}' },
          { tool: 0, arguments: '{"q":"second"}' },
        ],
      });
      const { events } = await answered(
        subject.model,
        asking('Go.', { tools: [toolNamed('a.b')] }),
      );
      same(
        callsIn(events),
        [
          { name: 'a.b', input: { q: 'first' } },
          { name: 'a.b', input: { q: 'second' } },
        ],
        'the calls',
      );
      same(textIn(events), 'Two.', 'the text beside them');
    },
  },
  {
    name: 'a call without arguments has an empty object',
    needs: 'server',
    readOnly: true,
    check: async (subject) => {
      serverOf(subject).answer({ kind: 'stream', calls: [{ tool: 0, arguments: '' }] });
      const { events } = await answered(
        subject.model,
        asking('Now.', { tools: [toolNamed('now')] }),
      );
      same(callsIn(events), [{ name: 'now', input: {} }], 'the calls');
    },
  },
  {
    name: 'arguments that were cut make the reason length, whatever the server says',
    needs: 'server',
    readOnly: true,
    check: async (subject) => {
      serverOf(subject).answer({ kind: 'stream', calls: [{ tool: 0, arguments: '{"q":"lon' }] });
      const { events } = await answered(
        subject.model,
        asking('Go.', { tools: [toolNamed('a.b')] }),
      );
      same(finishIn(events).reason, 'length', 'the reason');
    },
  },
  {
    name: 'fifty streams at once do not mix',
    needs: 'server',
    readOnly: true,
    check: async (subject) => {
      const texts = Array.from(
        { length: 50 },
        (_, index) => `stream ${index}: ${'ab'.repeat(index)}`,
      );
      serverOf(subject).answer(...texts.map(() => ({ kind: 'echo' }) as const));
      const answers = await soon(
        Promise.all(texts.map((text) => answered(subject.model, asking(text)))),
        'the end of all streams',
      );
      same(
        answers.map(({ events }) => textIn(events)),
        texts,
        'the texts',
      );
    },
  },
  {
    name: 'a longer request has more tokens',
    needs: 'count-tokens',
    readOnly: true,
    check: async ({ model }) => {
      const count = async (text: string): Promise<number> => {
        const { signal } = new AbortController();
        const tokens = await model.countTokens?.(asking(text), { signal });
        hold(Number.isInteger(tokens) && Number(tokens) > 0, `the count is ${String(tokens)}`);
        return Number(tokens);
      };
      const short = await count('Hello');
      const long = await count('Hello, how are you? '.repeat(20));
      hold(long > short, `the long request has ${long} tokens, the short one ${short}`);
    },
  },
];
