import { expect, test } from 'vitest';
import { BlobStore, bind, defineAgent, type JsonValue, type Part } from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import { appOf, read } from './harness.ts';

const SIGHTED = { capabilities: { inputModalities: ['text', 'image'] } };
const image = (source: { readonly kind: 'inline'; readonly base64: string }): Part => ({
  type: 'media',
  mediaType: 'image/png',
  source,
});
const INLINE = image({ kind: 'inline', base64: 'iVBORw==' });
const BLOB: Part = { type: 'media', mediaType: 'image/png', source: { kind: 'blob', ref: 'b1' } };
const agent = defineAgent({ name: 'viewer' });

/** A blob store whose one blob is the bytes of `iVBORw==`; what it is asked for is counted. */
function blobs(content: Readonly<Record<string, Uint8Array>>) {
  const asked: string[] = [];
  const put: Uint8Array[] = [];
  const store: BlobStore = {
    put: async (bytes, { mediaType }) => {
      put.push(bytes);
      return `${mediaType}/${put.length}`;
    },
    get: async (ref, { scope }) => {
      asked.push(`${scope.tenantId}:${ref}`);
      const bytes = content[ref];
      if (bytes === undefined) throw new Error(`there is no ${ref}`);
      return bytes;
    },
  };
  return { asked, put, provide: [bind(BlobStore, store)] };
}

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47]);

test('media that the model does not read are refused with every problem, before anything is stored', async () => {
  const durable = defineAgent({ name: 'viewer', recovery: 'action-boundary' });
  const app = await appOf(durable, [], { store: memoryStore() });
  const history = [
    { role: 'user', origin: 'user', parts: [{ type: 'text', text: 'See' }, INLINE] },
    {
      role: 'tool',
      origin: 'tool',
      parts: [{ type: 'tool-result', callId: 'c', outcome: 'ok', content: [INLINE] }],
    },
  ] as never;
  const message: readonly Part[] = [{ type: 'text', text: 'And this?' }, INLINE];
  await expect(app.run(durable, { message, history })).rejects.toMatchObject({
    code: 'INPUT_INVALID',
    problems: [
      { at: 'input.message[1]', seen: 'is image/png, and the model reads text.' },
      { at: 'input.history[0].parts[1]' },
      { at: 'input.history[1].parts[0].content[0]' },
    ],
  });
  expect((await app.runs.list({}, app.local('test'))).items).toEqual([]);
  await app.close();
});

test('a blob is refused where no store of blobs is bound', async () => {
  const app = await appOf(agent, [], { model: SIGHTED });
  await expect(app.run(agent, { message: [BLOB] })).rejects.toMatchObject({
    problems: [{ at: 'input.message[0]', seen: 'lies in a blob store, and none is bound.' }],
  });
  await app.close();
});

test('a blob comes to the model inline, and is fetched once for all steps', async () => {
  const { asked, provide } = blobs({ b1: PNG });
  const looking = defineAgent({ name: 'viewer', tools: [read('look', () => 'nothing')] });
  const call = { calls: [{ name: 'look', input: { id: '1' } }] };
  const app = await appOf(looking, [call, { text: 'A picture.' }], { model: SIGHTED, provide });
  expect(await app.run(looking, { message: [BLOB] })).toMatchObject({ kind: 'completed' });
  expect(app.model.requests.map(({ messages }) => messages[1]?.parts)).toEqual([
    [INLINE],
    [INLINE],
  ]);
  expect(asked).toEqual(['local:b1']);
  await app.close();
});

test('a blob that is gone ends the run before the model is asked', async () => {
  const app = await appOf(agent, [], { model: SIGHTED, ...blobs({}) });
  expect(await app.run(agent, { message: [BLOB] })).toMatchObject({
    kind: 'failed',
    error: { code: 'MODEL_REQUEST_INVALID', message: expect.stringContaining('"b1"') },
  });
  await app.close();
});

test.each<{ readonly what: string; readonly value: JsonValue; readonly seen: readonly Part[] }>([
  {
    what: 'an image',
    value: { type: 'media', mediaType: 'image/png', source: { kind: 'inline', base64: 'AA==' } },
    seen: [image({ kind: 'inline', base64: 'AA==' })],
  },
  {
    what: 'words beside a recording',
    value: [
      { type: 'text', text: 'Listen:' },
      { type: 'data', data: { seconds: 3 } },
      { type: 'media', mediaType: 'audio/wav', source: { kind: 'url', url: 'https://a.test/b' } },
    ],
    seen: [
      { type: 'text', text: 'Listen:' },
      { type: 'data', data: { seconds: 3 } },
      { type: 'text', text: '[audio/wav: this model does not read it]' },
    ],
  },
  {
    what: 'a blob that is gone',
    value: { type: 'media', mediaType: 'image/png', source: { kind: 'blob', ref: 'gone' } },
    seen: [{ type: 'text', text: '[image/png: it could not be read again]' }],
  },
  {
    what: 'data that only looks like media',
    value: [{ type: 'media' }],
    seen: [{ type: 'data', data: [{ type: 'media' }] }],
  },
])('a tool gives $what', async ({ value, seen }) => {
  const showing = defineAgent({ name: 'viewer', tools: [read('show', () => value)] });
  const call = { calls: [{ name: 'show', input: { id: '1' } }] };
  const app = await appOf(showing, [call, { text: 'Seen.' }], { model: SIGHTED, ...blobs({}) });
  expect(await app.run(showing, 'go')).toMatchObject({ kind: 'completed' });
  const [result] = app.model.requests[1]?.messages.at(-1)?.parts ?? [];
  expect(result).toMatchObject({ type: 'tool-result', outcome: 'ok', content: seen });
  await app.close();
});

test('without a store of blobs, what a tool has put there is said in words', async () => {
  const blob: JsonValue = {
    type: 'media',
    mediaType: 'image/png',
    source: { kind: 'blob', ref: 'b1' },
  };
  const showing = defineAgent({ name: 'viewer', tools: [read('show', () => blob)] });
  const call = { calls: [{ name: 'show', input: { id: '1' } }] };
  const app = await appOf(showing, [call, { text: 'Seen.' }], { model: SIGHTED });
  await app.run(showing, 'go');
  expect(app.model.requests[1]?.messages.at(-1)?.parts).toMatchObject([
    { content: [{ type: 'text', text: '[image/png: it could not be read again]' }] },
  ]);
  await app.close();
});

test('a large image of a tool is kept in the store of blobs and comes back from there', async () => {
  const base64 = 'iVBO'.repeat(40);
  const large: JsonValue = {
    type: 'media',
    mediaType: 'image/png',
    source: { kind: 'inline', base64 },
  };
  const showing = defineAgent({
    name: 'viewer',
    tools: [read('show', () => [{ type: 'text', text: 'Here.' }, large], { maxResultBytes: 100 })],
  });
  const { put, provide } = blobs({ 'image/png/1': new Uint8Array([1, 2, 3]) });
  const call = { calls: [{ name: 'show', input: { id: '1' } }] };
  const app = await appOf(showing, [call, { text: 'Seen.' }], { model: SIGHTED, provide });
  await app.run(showing, 'go');
  expect(put[0]?.length).toBe(120);
  const [result] = app.model.requests[1]?.messages.at(-1)?.parts ?? [];
  expect(result).toMatchObject({
    content: [
      { type: 'text', text: 'Here.' },
      { type: 'media', source: { kind: 'inline', base64: 'AQID' } },
    ],
  });
  await app.close();
});

test('an image that no commit could hold is left out in words where there is no store of blobs', async () => {
  const huge: JsonValue = {
    type: 'media',
    mediaType: 'image/png',
    source: { kind: 'inline', base64: 'A'.repeat(1024 * 1024) },
  };
  const showing = defineAgent({
    name: 'viewer',
    recovery: 'action-boundary',
    tools: [read('show', () => huge)],
  });
  const call = { calls: [{ name: 'show', input: { id: '1' } }] };
  const app = await appOf(showing, [call, { text: 'Seen.' }], {
    model: SIGHTED,
    store: memoryStore(),
  });
  await app.run(showing, 'go');
  const [result] = app.model.requests[1]?.messages.at(-1)?.parts ?? [];
  expect(result).toMatchObject({
    content: [{ type: 'text', text: expect.stringContaining('which is too much to keep]') }],
  });
  await app.close();
});

test('an agent with a loop of its own takes whatever it is sent', async () => {
  const own = defineAgent({ name: 'own', execute: () => 'seen' });
  const app = await appOf(own, []);
  expect(await app.run(own, { message: [INLINE] })).toMatchObject({ kind: 'completed' });
  await app.close();
});
