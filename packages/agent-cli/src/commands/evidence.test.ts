import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type EvidenceRow, payloadDigest, rowHash } from '@hexagent/agent-core';
import { expect, test } from 'vitest';
import { commandLine, configFolder } from '../../test/command-line.ts';
import { type FakeAppOptions, RUN } from '../../test/fake-app.ts';

/** A trail that holds. */
function trail(count: number): readonly EvidenceRow[] {
  const rows: EvidenceRow[] = [];
  for (let seq = 1; seq <= count; seq += 1) {
    const payload = { seq };
    const salt = `salt ${seq}`;
    const previousHash = rows.at(-1)?.hash ?? '0'.repeat(64);
    const said = {
      seq,
      runId: RUN,
      kind: 'tool' as const,
      at: 0,
      payloadDigest: payloadDigest(salt, payload),
      previousHash,
    };
    rows.push({ ...said, payload, salt, hash: rowHash(said) });
  }
  return rows;
}

const erased = ({ payload: _payload, salt: _salt, ...row }: EvidenceRow): EvidenceRow => row;

const paged = (rows: readonly EvidenceRow[], size = 2): FakeAppOptions => ({
  evidence: async (_run, { after = 0, limit = size }) =>
    rows.filter(({ seq }) => seq > after).slice(0, Math.min(size, limit)),
});

const fileOf = async (text: string): Promise<string> => {
  const file = join(await configFolder(), 'trail.jsonl');
  await writeFile(file, text);
  return file;
};

const lines = (rows: readonly EvidenceRow[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join('');

test('evidence reads every page, and says which row is erased and that the chain holds', async () => {
  const rows = trail(3).map((row) => (row.seq === 2 ? erased(row) : row));
  const line = await commandLine(['evidence', RUN], { app: paged(rows) });
  expect(await line.done).toBe(0);
  expect(
    line
      .stdout()
      .split('\n')
      .map((text) => text.split('\t').toSpliced(3, 1)),
  ).toEqual([
    ['1', 'tool', '1970-01-01T00:00:00Z', '{"seq":1}'],
    ['2', 'tool', '1970-01-01T00:00:00Z', 'erased'],
    ['3', 'tool', '1970-01-01T00:00:00Z', '{"seq":3}'],
    [''],
  ]);
  expect(line.stderr()).toContain('The chain of 3 rows holds, 1 of them erased.');
});

test('a chain that does not hold is an error that names the row', async () => {
  const rows = trail(3).map((row) => (row.seq === 2 ? { ...row, kind: 'model' as const } : row));
  const line = await commandLine(['evidence', RUN], { app: paged(rows) });
  expect(await line.done).toBe(1);
  expect(line.stderr()).toBe(
    'Row 2 does not hold: it has a hash that does not fit what the row says.\n',
  );
});

test('a run without evidence has nothing to hold', async () => {
  const line = await commandLine(['evidence', RUN]);
  expect(await line.done).toBe(0);
  expect(line.stderr()).toBe('');
});

test('a page from the middle is shown and not judged', async () => {
  const line = await commandLine(['evidence', RUN, '--limit', '1', '--after', '1', '--json'], {
    app: paged(trail(3)),
  });
  expect(await line.done).toBe(0);
  expect(line.records()).toMatchObject([{ type: 'evidence', seq: 2 }]);
});

test('--verify asks the gateway and prints no row', async () => {
  const report = { rows: 7, erased: 0, lastHash: 'abc' };
  const line = await commandLine(['evidence', RUN, '--verify'], {
    app: { verify: async () => report },
  });
  expect(await line.done).toBe(0);
  expect(line.stdout()).toBe('');
  expect(line.stderr()).toBe('The chain of 7 rows holds.\nIts last hash: abc\n');
});

test('--verify with --json is one record', async () => {
  const fault = { seq: 3, kind: 'gap' as const, problem: 'follows row 1' };
  const line = await commandLine(['evidence', RUN, '--verify', '--json'], {
    app: { verify: async () => ({ rows: 1, erased: 0, lastHash: 'abc', fault }) },
  });
  expect(await line.done).toBe(1);
  expect(line.records()).toEqual([
    { type: 'chain', holds: false, rows: 1, erased: 0, lastHash: 'abc', fault },
  ]);
});

test('a chain that holds and is another one than the one whose last hash was kept is an error', async () => {
  const app: FakeAppOptions = { verify: async () => ({ rows: 7, erased: 0, lastHash: 'abc' }) };
  const other = await commandLine(['evidence', RUN, '--verify', '--last-hash', 'abd'], { app });
  expect(await other.done).toBe(1);
  expect(other.stderr()).toContain('it is another one: it ends with abc');
  const same = await commandLine(['evidence', RUN, '--verify', '--last-hash', 'abc'], { app });
  expect(await same.done).toBe(0);
});

test('what --jsonl wrote is what --verify-file reads, without a store', async () => {
  const rows = trail(5).map((row) => (row.seq === 4 ? erased(row) : row));
  const written = await commandLine(['evidence', RUN, '--jsonl'], { app: paged(rows) });
  expect(await written.done).toBe(0);
  expect(written.stdout()).toBe(lines(rows));
  const read = await commandLine(['evidence', '--verify-file', await fileOf(written.stdout())]);
  expect(await read.done).toBe(0);
  expect(read.configs).toEqual([]);
  expect(read.stderr()).toContain('The chain of 5 rows holds, 1 of them erased.');
});

test('--jsonl with --json marks the rows as records, as everywhere', async () => {
  const line = await commandLine(['evidence', RUN, '--jsonl', '--json'], { app: paged(trail(1)) });
  expect(await line.done).toBe(0);
  expect(line.records()).toMatchObject([{ type: 'evidence', seq: 1 }]);
});

test.each([
  [
    'a row that was altered',
    lines(trail(3)).replace('"seq":2}', '"seq":9}'),
    'Row 2 does not hold: it has another payload',
  ],
  [
    'a row that was cut',
    lines(trail(3)).slice(0, -20),
    'Row 3 does not hold: it is no row of evidence',
  ],
  ['something else', '{"name":"package"}\n', 'Row 1 does not hold: it is no row of evidence'],
])('--verify-file finds %s', async (_, text, said) => {
  const line = await commandLine(['evidence', '--verify-file', await fileOf(text)]);
  expect(await line.done).toBe(1);
  expect(line.stderr()).toContain(said);
});

test('a file that is not there is a usage error', async () => {
  const line = await commandLine(['evidence', '--verify-file', '/nowhere/trail.jsonl']);
  expect(await line.done).toBe(2);
  expect(line.stderr()).toContain('/nowhere/trail.jsonl');
});

test('--verify-file takes no run, and everything else needs one', async () => {
  const both = await commandLine(['evidence', RUN, '--verify-file', await fileOf('')]);
  expect(await both.done).toBe(2);
  const none = await commandLine(['evidence']);
  expect(await none.done).toBe(2);
  expect(none.stderr()).toContain('Which run?');
});

test('--erase blanks the named rows when it is meant', async () => {
  const line = await commandLine(['evidence', RUN, '--erase', '3,7-9', '--yes']);
  expect(await line.done).toBe(0);
  expect(line.asked).toEqual([{ door: 'eraseEvidence', with: [RUN, [3, 7, 8, 9]] }]);
  expect(line.stderr()).toContain('Erased 4 rows; the hashes stay.');
});

test('--erase all names every row there is', async () => {
  const line = await commandLine(['evidence', RUN, '--erase', 'all', '--yes', '--json'], {
    app: paged(trail(5)),
  });
  expect(await line.done).toBe(0);
  expect(line.asked[0]?.with[1]).toEqual([1, 2, 3, 4, 5]);
  expect(line.records()).toEqual([{ type: 'erased', runId: RUN, rows: 5 }]);
});

test('--erase without --yes asks at a terminal, and does nothing without a yes', async () => {
  const no = await commandLine(['evidence', RUN, '--erase', '3'], { terminal: true });
  await no.until('for ever?');
  no.stdin.write('y\n');
  expect(await no.done).toBe(1);
  expect(no.asked).toEqual([]);
  const yes = await commandLine(['evidence', RUN, '--erase', '3'], { terminal: true });
  await yes.until('for ever?');
  yes.stdin.write('yes\n');
  expect(await yes.done).toBe(0);
  expect(yes.doors()).toEqual(['eraseEvidence']);
});

test('--erase without --yes and without anybody to ask does nothing', async () => {
  const line = await commandLine(['evidence', RUN, '--erase', '3'], { input: 'yes\n' });
  expect(await line.done).toBe(2);
  expect(line.stderr()).toContain('there is nobody to ask');
  expect(line.asked).toEqual([]);
});

test.each(['', '0', '3-1', 'x', '1,,2', '1-200000'])('--erase %j names no rows', async (rows) => {
  const line = await commandLine(['evidence', RUN, '--erase', rows, '--yes']);
  expect(await line.done).toBe(2);
  expect(line.asked).toEqual([]);
});

test('an exported file without a row proves nothing', async () => {
  const file = await fileOf('\n');
  const line = await commandLine(['evidence', '--verify-file', file]);
  expect(await line.done).toBe(2);
  expect(line.stderr()).toContain(`The file "${file}" has no row.`);
  expect(line.stderr()).not.toContain('holds');
});

test('one row is counted as one', async () => {
  const line = await commandLine(['evidence', RUN], { app: paged(trail(1)) });
  expect(await line.done).toBe(0);
  expect(line.stderr()).toContain('The chain of 1 row holds.');
});
