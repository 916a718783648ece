import { valuing } from '../../src/testing/store-contract/valuing.ts';
import { broken, noticed, tick } from './mutant.ts';

noticed([...valuing], {
  'values are not compared': broken('values', (real) => ({
    put: ({ expect: _, ...write }, stop) => real.put(write, stop),
  })),
  'none expected means anything': broken('values', (real) => ({
    put: ({ expect, ...write }, stop) => real.put(expect ? { ...write, expect } : write, stop),
  })),
  'a delete is not compared': broken('values', (real) => ({
    put: ({ expect, ...write }, stop) =>
      real.put(write.value && expect !== undefined ? { ...write, expect } : write, stop),
  })),
  'a delete answers a version': broken('values', (real) => ({
    put: async (write, stop) => {
      const result = await real.put(write, stop);
      return result.kind === 'written' ? { ...result, version: result.version || 1 } : result;
    },
  })),
  'a conflict does not tell what stands there': broken('values', (real) => ({
    put: async (write, stop) => {
      const result = await real.put(write, stop);
      return result.kind === 'conflict' ? { kind: 'conflict' } : result;
    },
  })),
  'values never expire': broken('values', (real) => ({
    put: ({ ttlMs: _, ...write }, stop) => real.put(write, stop),
  })),
  'an expired value is listed': broken('values', (real, state) => ({
    list: async (query) => {
      const page = await real.list(query);
      const all = [...state.values.values()].filter(
        (value) => value.namespace === query.namespace && value.tenantId === query.tenantId,
      );
      return page.items.length === 0 && all.length === 1 ? { items: all } : page;
    },
  })),
  'a write keeps the old expiry': broken('values', (real, state) => ({
    put: async (write, stop) => {
      const before = await real.get(write, stop);
      const result = await real.put(write, stop);
      for (const [place, value] of state.values) {
        if (value.key === write.key && value.namespace === write.namespace && before?.expiresAt)
          state.values.set(place, { ...value, expiresAt: before.expiresAt });
      }
      return result;
    },
  })),
  'a version stands still': broken('values', (real, state) => ({
    put: async (write, stop) => {
      const result = await real.put(write, stop);
      for (const [place, value] of state.values) state.values.set(place, { ...value, version: 1 });
      return result.kind === 'written' && write.value ? { ...result, version: 1 } : result;
    },
  })),
  'values belong to every tenant': broken('values', (real) => ({
    get: (key, stop) => real.get({ ...key, tenantId: '' }, stop),
    put: (write, stop) => real.put({ ...write, tenantId: '' }, stop),
    list: (query) => real.list({ ...query, tenantId: '' }),
  })),
  'values are listed without regard to case': broken('values', (real) => ({
    list: async (query) => {
      const page = await real.list({
        namespace: query.namespace,
        tenantId: query.tenantId,
        limit: 1e9,
        ...(query.prefix === undefined ? {} : { prefix: query.prefix }),
        signal: query.signal,
      });
      return {
        items: [...page.items]
          .sort((left, right) => left.key.localeCompare(right.key))
          .slice(0, query.after ? 0 : query.limit),
      };
    },
  })),
  'a prefix is a pattern': broken('values', (real) => ({
    list: async ({ prefix, ...query }) => {
      const page = await real.list(query);
      const pattern = (prefix ?? '')
        .replace(/%/g, '.*')
        .replace(/_/g, '.')
        .replace(/[\\/]/g, '\\$&');
      return {
        ...page,
        items: page.items.filter(({ key }) => new RegExp(`^${pattern}`).test(key)),
      };
    },
  })),
  'a page of values repeats its last': broken('values', (real) => ({
    list: async (query) => {
      const page = await real.list({ ...query, limit: query.limit + 1 });
      const last = page.items.at(query.limit);
      return page.items.length > query.limit && last
        ? { items: page.items.slice(0, query.limit), next: last.key }
        : { items: page.items };
    },
  })),
  'put looks, waits, and then writes': broken('values', (real) => ({
    put: async (write, stop) => {
      const current = await real.get(write, stop);
      await tick();
      if (write.expect !== undefined && (current?.version ?? 0) !== write.expect)
        return current ? { kind: 'conflict', current } : { kind: 'conflict' };
      const { expect: _, ...rest } = write;
      return real.put(rest, stop);
    },
  })),
});
