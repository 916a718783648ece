import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { filesBelow, isSource } from './files.mjs';
import { command } from './guard.mjs';

const BASE = 'packages/agent-core/src/base';
const PAGE = 'docs/errors.md';

/** The codes of the `ERROR_CODES` list, in order, and where the list ends. */
function codesOf(text) {
  const file = ts.createSourceFile('codes.ts', text, ts.ScriptTarget.Latest, true);
  for (const statement of file.statements.filter(ts.isVariableStatement)) {
    for (const { name, initializer } of statement.declarationList.declarations) {
      if (name.getText() !== 'ERROR_CODES' || initializer === undefined) continue;
      const list = ts.isAsExpression(initializer) ? initializer.expression : initializer;
      return { codes: list.elements.map((element) => element.text), end: list.end };
    }
  }
  return { codes: [], end: 0 };
}

/** The rows `| \`CODE\` | when | mend |` of the page. */
function rowsOf(page) {
  return [...page.matchAll(/^\|\s*`([A-Z0-9_]+)`\s*\|([^|]*)\|([^|]*)\|\s*$/gm)].map(
    ([, code, when, mend]) => ({ code, when: when.trim(), mend: mend.trim() }),
  );
}

function check(root) {
  if (!existsSync(join(root, PAGE))) return { problems: [`${PAGE} is missing.`] };
  const catalog = filesBelow(root, BASE, isSource).find((file) =>
    readFileSync(join(root, file), 'utf8').includes('export const ERROR_CODES'),
  );
  if (catalog === undefined) return { problems: [`No file of ${BASE} exports ERROR_CODES.`] };
  const text = readFileSync(join(root, catalog), 'utf8');
  const { codes, end } = codesOf(text);
  const rows = rowsOf(readFileSync(join(root, PAGE), 'utf8'));
  const documented = new Set(rows.map(({ code }) => code));
  const sources = [
    text.slice(end),
    ...filesBelow(root, 'packages', isSource)
      .filter((file) => file !== catalog && file.includes('/src/'))
      .map((file) => readFileSync(join(root, file), 'utf8')),
  ].join('\n');
  const problems = [];
  for (const [at, code] of codes.entries()) {
    if (codes.indexOf(code) !== at) problems.push(`${code} stands twice in ${catalog}.`);
    if (!documented.has(code)) problems.push(`${code} has no row in ${PAGE}.`);
    if (!new RegExp(`['"\`]${code}['"\`]`).test(sources)) {
      problems.push(`${code} is used nowhere in packages/*/src: drop it or give it its factory.`);
    }
  }
  for (const { code, when, mend } of rows) {
    if (!codes.includes(code))
      problems.push(`${PAGE} has a row for ${code}, which ${catalog} does not list.`);
    if (when === '' || mend === '')
      problems.push(`${PAGE}: the row of ${code} does not say when it happens or what to do.`);
  }
  const order = rows.map(({ code }) => code);
  if (problems.length === 0 && order.join() !== codes.join()) {
    const at = codes.findIndex((code, index) => order[index] !== code);
    problems.push(`${PAGE} has another order than ${catalog}, from ${codes[at]} on.`);
  }
  return { problems, note: `${codes.length} codes` };
}

export const rule = {
  name: 'error-catalog',
  help: `ERROR_CODES and ${PAGE} list the same codes in the same order, each with its reason and its mend, and each code is used.`,
  check,
};

await command(import.meta, rule);
