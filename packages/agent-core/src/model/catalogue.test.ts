import { expect, test } from 'vitest';
import { type CatalogueEntry, modelCatalogue } from './catalogue.ts';

const prices = { currency: 'USD', input: 1, output: 2 };

test('finds a model by its name and its aliases, and without a provider only where one has it', () => {
  const large = { provider: 'a', model: 'large', aliases: ['large-2026'], prices };
  const other = { provider: 'b', model: 'large' };
  const small = { provider: 'b', model: 'small' };
  const catalogue = modelCatalogue([large, other, small]);
  expect(catalogue.find({ provider: 'a', model: 'large-2026' })).toBe(large);
  expect(catalogue.find({ provider: 'b', model: 'large' })).toBe(other);
  expect(catalogue.find({ provider: 'c', model: 'large' })).toBeUndefined();
  expect(catalogue.find({ model: 'large' })).toBeUndefined();
  expect(catalogue.find({ model: 'small' })).toBe(small);
  expect(catalogue.find({ model: 'unknown' })).toBeUndefined();
  expect(modelCatalogue([]).find({ model: 'large' })).toBeUndefined();
});

test('refuses with every problem at once', () => {
  const entries = [
    { provider: ' ', model: '', contextWindow: 0, maxOutputTokens: 1.5 },
    { provider: 'a', model: 'm', prices: { ...prices, currency: '', output: undefined } },
    { provider: 'a', model: 'n', aliases: ['m'], prices: { ...prices, cached: 'free' } },
    { provider: 'a', model: 'o', prices: { ...prices, currency: 'EUR' } },
  ] as unknown as readonly CatalogueEntry[];
  expect(() => modelCatalogue(entries)).toThrow(
    expect.objectContaining({
      code: 'INPUT_INVALID',
      problems: [
        expect.objectContaining({ at: 'entries[0]', seen: 'has the name " ".' }),
        expect.objectContaining({ at: 'entries[0]', seen: 'has the name "".' }),
        expect.objectContaining({ at: 'entries[0].contextWindow', seen: 'is 0.' }),
        expect.objectContaining({ at: 'entries[0].maxOutputTokens', seen: 'is 1.5.' }),
        expect.objectContaining({ at: 'entries[1].prices.currency' }),
        expect.objectContaining({ at: 'entries[1].prices.output', seen: 'is missing.' }),
        expect.objectContaining({ at: 'entries[2].prices.cached', seen: 'is "free".' }),
        expect.objectContaining({ at: 'entries[2]', seen: 'names "m" of "a" a second time.' }),
        expect.objectContaining({ at: 'entries', seen: 'have prices in  and USD and EUR.' }),
      ],
    }),
  );
});
