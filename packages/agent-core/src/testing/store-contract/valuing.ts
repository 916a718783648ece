import type { Value } from '../../durable/value-store.ts';
import type { Rule } from '../rule.ts';
import { ensure, present, same } from './assert.ts';
import { AFTER_SHORT, SHORT, type StoreBench, storeRule } from './store-bench.ts';
import type { StoreSubject } from './store-subject.ts';

/** `values`: small things, one compare-and-swap each. */
export const valuing: readonly Rule<StoreSubject>[] = [
  storeRule('a value is kept under its key, with a version that moves on', async (bench) => {
    const { store, stop } = bench;
    const key = keyOf(bench);
    same(await store.values.get(key, stop), undefined, 'before');
    const first = await put(bench, { ...key, value: { plain: { a: [1, null] } } });
    same(
      await store.values.get(key, stop),
      { ...key, value: { plain: { a: [1, null] } }, version: first },
      'the value',
    );
    const second = await put(bench, { ...key, value: { sealed: 'opaque' } });
    ensure(first > 0 && second > first, 'versions grow from above zero', [first, second]);
    same(
      await store.values.get(key, stop),
      { ...key, value: { sealed: 'opaque' }, version: second },
      'the value after that',
    );
  }),
  storeRule('a value is written only over the version that is expected', async (bench) => {
    const { store, stop } = bench;
    const key = keyOf(bench);
    const write = (value: number, expect: number) =>
      store.values.put({ ...key, value: { plain: value }, expect }, stop);
    same(await write(1, 7), { kind: 'conflict' }, 'a version where nothing stands');
    const first = await write(1, 0);
    ensure(first.kind === 'written', 'the first write', first);
    const current = { ...key, value: { plain: 1 }, version: first.version };
    same(await write(2, 0), { kind: 'conflict', current }, 'none where something stands');
    same(await write(2, first.version + 1), { kind: 'conflict', current }, 'another version');
    same(await store.values.get(key, stop), current, 'the value after the conflicts');
    same((await write(2, first.version)).kind, 'written', 'the right version');
  }),
  storeRule('a delete answers version 0 and compares like a write', async (bench) => {
    const { store, stop } = bench;
    const key = keyOf(bench);
    same(await store.values.put(key, stop), { kind: 'written', version: 0 }, 'a delete of nothing');
    const version = await put(bench, { ...key, value: { plain: null } });
    const wrong = await store.values.put({ ...key, expect: version + 1 }, stop);
    same(wrong.kind, 'conflict', 'a delete of another version');
    const gone = await store.values.put({ ...key, expect: version }, stop);
    same(gone, { kind: 'written', version: 0 }, 'a delete of the right version');
    same(await store.values.get(key, stop), undefined, 'the value after that');
    const again = await store.values.put({ ...key, value: { plain: 1 }, expect: 0 }, stop);
    same(again.kind, 'written', 'a write where nothing stands any more');
  }),
  storeRule('of many writes over one version exactly one is taken', async (bench) => {
    const { store, stop } = bench;
    const key = keyOf(bench);
    for (let round = 0; round < 3; round += 1) {
      const expect = (await store.values.get(key, stop))?.version ?? 0;
      const writes = Array.from({ length: 10 }, (_, n) =>
        store.values.put({ ...key, value: { plain: n }, expect }, stop),
      );
      const answers = await Promise.all(writes);
      same(answers.filter(({ kind }) => kind === 'written').length, 1, 'how many were written');
      const winner = answers.findIndex(({ kind }) => kind === 'written');
      same((await store.values.get(key, stop))?.value, { plain: winner }, 'what stands there');
    }
  }),
  storeRule('namespace, tenant and key name a value together', async (bench) => {
    const { store, stop } = bench;
    const key = keyOf(bench);
    const places = [
      key,
      { ...key, key: `${key.key}x` },
      { ...key, namespace: `${key.namespace}x` },
      { ...key, tenantId: `${key.tenantId}-other` },
    ];
    for (const [index, place] of places.entries())
      await put(bench, { ...place, value: { plain: index } });
    for (const [index, place] of places.entries()) {
      same((await store.values.get(place, stop))?.value, { plain: index }, `the value ${index}`);
    }
    same(
      (await all(bench, key)).map(({ value }) => value),
      [{ plain: 0 }, { plain: 1 }],
      'the list',
    );
  }),
  storeRule(
    'an expired value is not there',
    async (bench) => {
      const { store, stop } = bench;
      const key = keyOf(bench);
      await put(bench, { ...key, value: { plain: 1 }, ttlMs: SHORT });
      await bench.advance(AFTER_SHORT);
      same(await store.values.get(key, stop), undefined, 'the value');
      same(await all(bench, key), [], 'the list');
      const write = { ...key, value: { plain: 2 }, expect: 0 };
      same((await store.values.put(write, stop)).kind, 'written', 'a write where it stood');
      same((await store.values.get(key, stop))?.value, { plain: 2 }, 'the value after that');
    },
    { needs: 'clock' },
  ),
  storeRule(
    'a value lives as long as its last write says',
    async (bench) => {
      const { store, stop } = bench;
      const key = keyOf(bench);
      await put(bench, { ...key, value: { plain: 1 }, ttlMs: SHORT });
      await put(bench, { ...key, value: { plain: 2 } });
      await bench.advance(AFTER_SHORT);
      const value = present(await store.values.get(key, stop), 'the value');
      same(value.expiresAt, undefined, 'its expiry');
      const written = await put(bench, { ...key, value: { plain: 3 }, ttlMs: 600_000 });
      const timed = await store.values.get(key, stop);
      ensure(
        timed?.version === written && typeof timed.expiresAt === 'number',
        'an expiry is told',
        timed,
      );
    },
    { needs: 'clock' },
  ),
  storeRule('values are listed by prefix, in the order of their keys, in pages', async (bench) => {
    const key = keyOf(bench);
    const keys = ['b', 'B', 'a/2', 'a/10', 'a/1', 'é', 'a', 'a%', 'a_', 'A/1', 'a\\', '한', 'a/'];
    for (const name of keys) await put(bench, { ...key, key: name, value: { plain: name } });
    const sorted = [...keys].sort();
    for (const limit of [1, 2, 5, 12, 13, 100]) {
      same(
        (await all(bench, key, { limit })).map((value) => value.key),
        sorted,
        `in pages of ${limit}`,
      );
    }
    for (const prefix of ['a', 'a/', 'a%', 'a_', 'a\\', 'é', 'zz', '']) {
      const wanted = sorted.filter((name) => name.startsWith(prefix));
      const listed = await all(bench, key, { prefix, limit: 2 });
      same(
        listed.map((value) => value.key),
        wanted,
        `with the prefix ${JSON.stringify(prefix)}`,
      );
    }
    same((await all(bench, key))[0]?.value, { plain: 'A/1' }, 'the first value');
  }),
];

type Written = Parameters<StoreBench['store']['values']['put']>[0];

function keyOf(bench: StoreBench) {
  return { namespace: bench.name('namespace'), tenantId: bench.tenant, key: 'key' };
}

async function put({ store, stop }: StoreBench, write: Written): Promise<number> {
  const answer = await store.values.put(write, stop);
  ensure(answer.kind === 'written', 'a write that expects nothing', answer);
  return answer.version;
}

/** Every page of a list. */
async function all(
  { store, stop }: StoreBench,
  { namespace, tenantId }: { readonly namespace: string; readonly tenantId: string },
  options: { readonly prefix?: string; readonly limit?: number } = {},
): Promise<readonly Value[]> {
  const { limit = 100, ...rest } = options;
  const values: Value[] = [];
  let after: string | undefined;
  do {
    const from = after === undefined ? {} : { after };
    const page = await store.values.list({ namespace, tenantId, limit, ...rest, ...from, ...stop });
    ensure(page.items.length <= limit, `a page of at most ${limit}`, page.items.length);
    values.push(...page.items);
    ensure(
      page.next === undefined || page.items.length > 0,
      'only a page with items has a next one',
    );
    after = page.next;
  } while (after !== undefined);
  return values;
}
