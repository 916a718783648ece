import type { Problem } from '../base/error-catalog.ts';
import { isJsonObject } from '../base/json.ts';
import { compileSchema } from '../base/schema.ts';
import { CONTRACT, type Manifest } from './plugin.ts';

const FIELDS = ['name', 'version', 'contract', 'contributes', 'requires', 'options'];

/**
 * Checks what a package says about itself, and the options it was given (the data among them: functions
 * and objects with methods are the plugin's own to check). All problems at once.
 *
 * @param at how problems name the manifest: `plugins[0]`
 */
export function checkManifest(
  manifest: unknown,
  { at, options }: { readonly at: string; readonly options?: unknown },
): readonly Problem[] {
  if (!isJsonObject(manifest))
    return [{ at, seen: 'has no manifest.', mend: 'Make the plugin with definePlugin.' }];
  const { name, version, contract, contributes, requires } = manifest;
  const problems: Problem[] = [];
  const named = typeof name === 'string' && name.trim() !== '' ? `${at} (${name})` : at;
  if (named === at)
    problems.push({
      at: `${at}.name`,
      seen: `is ${JSON.stringify(name)}.`,
      mend: 'Give the name of the package.',
    });
  if (typeof version !== 'string' || version === '')
    problems.push({
      at: `${named}.version`,
      seen: `is ${JSON.stringify(version)}.`,
      mend: 'Give the version of the package.',
    });
  if (contract !== CONTRACT) {
    problems.push({
      at: `${named}.contract`,
      seen: `is edition ${JSON.stringify(contract)}; this core knows ${CONTRACT}.`,
      mend: 'Install versions of the packages that belong together.',
    });
  }
  for (const [field, value] of [
    ['contributes', contributes],
    ['requires', requires],
  ] as const) {
    if (!Array.isArray(value) || !value.every((id) => typeof id === 'string' && id !== '')) {
      problems.push({
        at: `${named}.${field}`,
        seen: `is ${JSON.stringify(value)}.`,
        mend: 'List the ids of ports.',
      });
    }
  }
  for (const key of Object.keys(manifest)) {
    if (!FIELDS.includes(key))
      problems.push({
        at: `${named}.${key}`,
        seen: 'is not a field of a manifest.',
        mend: `Known fields: ${FIELDS.join(', ')}.`,
      });
  }
  return [...problems, ...optionProblems(manifest as unknown as Manifest, named, options)];
}

function optionProblems(manifest: Manifest, at: string, options: unknown): readonly Problem[] {
  if (!isJsonObject(manifest.options))
    return [
      {
        at: `${at}.options`,
        seen: `is ${JSON.stringify(manifest.options)}.`,
        mend: 'Give a JSON Schema of the options.',
      },
    ];
  const compiled = compileSchema(manifest.options, `${at}.options`);
  if (!compiled.ok) return compiled.problems;
  if (options === undefined) return [];
  const checked = compiled.check(dataOf(options, manifest.options));
  if (checked.ok) return [];
  return checked.problems.map((problem) => ({
    at: `${at}.options`,
    seen: `${problem}.`,
    mend: 'Correct the option.',
  }));
}

/** The options that are data: what the schema names, and everything else that is not a function or an object with methods. */
function dataOf(options: unknown, schema: Manifest['options']): unknown {
  if (!isJsonObject(options)) return options;
  const named = isJsonObject(schema['properties']) ? Object.keys(schema['properties']) : [];
  return Object.fromEntries(
    Object.entries(options).filter(
      ([key, value]) => value !== undefined && (named.includes(key) || isData(value)),
    ),
  );
}

function isData(value: unknown): boolean {
  if (typeof value === 'function') return false;
  if (typeof value !== 'object' || value === null) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return (
    (prototype === Object.prototype || Array.isArray(value)) && Object.values(value).every(isData)
  );
}
