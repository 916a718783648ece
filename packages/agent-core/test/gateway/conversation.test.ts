import { describe, expect, test } from 'vitest';
import { bind, Sealer, textOf } from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import { appOf, storeWithClock, toySealer, withClock } from '../behaviours/harness.ts';
import {
  acme,
  alice,
  asks,
  bob,
  callerOf,
  chatter,
  codeOf,
  done,
  NOBODY,
  rival,
  writer,
} from './harness.ts';

const conversationId = 'order-17';
const as = { principal: alice.principal };

/** What was said, turn by turn. */
function said(page: {
  readonly turns: readonly {
    readonly messages: readonly {
      readonly message: { readonly parts: Parameters<typeof textOf>[0] };
    }[];
  }[];
}): readonly (readonly string[])[] {
  return page.turns.map(({ messages }) => messages.map(({ message }) => textOf(message.parts)));
}

describe('a conversation', () => {
  test('is read with its open run, oldest turn first', async () => {
    const app = await appOf(writer, [{ text: 'One.' }, { text: 'Two.' }, asks], {
      store: memoryStore(),
    });
    for (const message of ['first', 'second', 'third'])
      await app.run(writer, { message, conversationId }, as);
    const page = await app.runs.conversation(conversationId, {}, alice);
    expect(page).toMatchObject({
      conversationId,
      turns: [
        { run: { status: 'completed' } },
        { run: { status: 'completed' } },
        { run: { status: 'interrupted' } },
      ],
    });
    expect(page.next).toBeUndefined();
    expect(said(page)).toEqual([
      ['first', 'One.'],
      ['second', 'Two.'],
      ['third', ''],
    ]);
    expect(page.turns[0]?.messages[1]).toMatchObject({
      messageId: `${page.turns[0]?.run.runId}.m2`,
      seq: 2,
    });
    await app.close();
  });

  test('comes page by page, the youngest first', async () => {
    const app = await appOf(writer, [done, done, done], { store: memoryStore() });
    for (const message of ['a', 'b', 'c']) await app.run(writer, { message, conversationId }, as);
    const youngest = await app.runs.conversation(conversationId, { limit: 2 }, alice);
    expect(said(youngest)).toEqual([
      ['b', 'Done.'],
      ['c', 'Done.'],
    ]);
    const { next } = youngest;
    expect(next).toBeTypeOf('string');
    const older = await app.runs.conversation(
      conversationId,
      { limit: 2, after: String(next) },
      alice,
    );
    expect(said(older)).toEqual([['a', 'Done.']]);
    expect(older.next).toBeUndefined();
    await app.close();
  });

  test('has an empty last page when what was on it is gone', async () => {
    const { store, clock } = storeWithClock();
    const app = await appOf(writer, [done, done], { store, provide: withClock(clock) });
    await app.run(writer, { message: 'a', conversationId }, as);
    await clock.advance(1_000);
    await app.run(writer, { message: 'b', conversationId }, as);
    const { next } = await app.runs.conversation(conversationId, { limit: 1 }, alice);
    await app.prune({ olderThan: 500, keep: 'nothing', scope: alice.principal.scope });
    expect(await app.runs.conversation(conversationId, { after: String(next) }, alice)).toEqual({
      conversationId,
      turns: [],
    });
    await app.close();
  });

  test('is not found by others, and looks as if it were not there', async () => {
    const app = await appOf(writer, [done], { store: memoryStore() });
    await app.run(writer, { message: 'x', conversationId }, as);
    for (const caller of [bob, rival, callerOf('acme', 'carol')]) {
      expect(await codeOf(app.runs.conversation(conversationId, {}, caller))).toBe(
        'CONVERSATION_NOT_FOUND',
      );
    }
    expect(await codeOf(app.runs.conversation('another', {}, alice))).toBe(
      'CONVERSATION_NOT_FOUND',
    );
    expect((await app.runs.conversation(conversationId, {}, acme)).turns).toHaveLength(1);
    for (const nobody of NOBODY)
      expect(await codeOf(app.runs.conversation(conversationId, {}, nobody))).toBe(
        'PRINCIPAL_REQUIRED',
      );
    await app.close();
  });

  test('refuses a cursor and a limit that are none', async () => {
    const app = await appOf(writer, [done], { store: memoryStore() });
    await app.run(writer, { message: 'x', conversationId }, as);
    for (const query of [{ limit: 0 }, { limit: 1.5 }, { after: '' }, { after: 'nonsense' }])
      expect(await codeOf(app.runs.conversation(conversationId, query, alice))).toBe(
        'INPUT_INVALID',
      );
    await app.close();
  });

  test('without a store there is none', async () => {
    const app = await appOf(chatter, []);
    expect(await codeOf(app.runs.conversation(conversationId, {}, alice))).toBe(
      'CONVERSATION_NOT_FOUND',
    );
    await app.close();
  });

  test('keeps the place of runs of which only the evidence is kept', async () => {
    const { store, clock } = storeWithClock();
    const app = await appOf(writer, [done, done], { store, provide: withClock(clock) });
    await app.run(writer, { message: 'old', conversationId }, as);
    await clock.advance(1);
    await app.prune({ olderThan: 0, keep: 'evidence', scope: alice.principal.scope });
    await app.run(writer, { message: 'new', conversationId }, as);
    const page = await app.runs.conversation(conversationId, {}, alice);
    expect(said(page)).toEqual([[], ['new', 'Done.']]);
    await app.close();
  });

  test('opens what was sealed', async () => {
    const app = await appOf(writer, [done], {
      store: memoryStore(),
      provide: [bind(Sealer, toySealer)],
    });
    await app.run(writer, { message: 'sealed words', conversationId }, as);
    expect(said(await app.runs.conversation(conversationId, {}, alice))).toEqual([
      ['sealed words', 'Done.'],
    ]);
    await app.close();
  });
});
