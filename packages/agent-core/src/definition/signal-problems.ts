import type { Problem } from '../base/error-catalog.ts';
import { isJsonObject } from '../base/json.ts';
import { SIGNAL_KINDS } from '../vocabulary/signal.ts';
import { shown } from './shown.ts';

type Given = { readonly accepts?: unknown; readonly signals?: unknown; readonly execute?: unknown };

/** What is wrong with the signals that an agent accepts and answers. */
export function signalProblems(spec: Given, at: string): readonly Problem[] {
  return [...acceptProblems(spec.accepts, `${at}.accepts`), ...hookProblems(spec, `${at}.signals`)];
}

function acceptProblems(accepts: unknown, at: string): readonly Problem[] {
  if (accepts === undefined) return [];
  const mend = `Choose from: ${SIGNAL_KINDS.join(', ')}.`;
  if (!Array.isArray(accepts))
    return [{ at, seen: `is ${shown(accepts)}.`, mend: `Pass a list. ${mend}` }];
  return accepts.flatMap((kind: unknown, index) =>
    (SIGNAL_KINDS as readonly unknown[]).includes(kind)
      ? []
      : [{ at: `${at}[${index}]`, seen: `is ${shown(kind)}.`, mend }],
  );
}

function hookProblems({ accepts, signals, execute }: Given, at: string): readonly Problem[] {
  if (signals === undefined) return [];
  if (!isJsonObject(signals))
    return [
      { at, seen: `is ${shown(signals)}.`, mend: 'Pass an object of hooks, by kind of signal.' },
    ];
  const hooks = Object.entries(signals).filter(([, hook]) => hook !== undefined);
  if (hooks.length > 0 && execute !== undefined)
    return [
      {
        at,
        seen: 'are never called when the agent has its own execute.',
        mend: 'Name the kinds in accepts, and read them in execute: runControls(context).signals().',
      },
    ];
  return hooks.flatMap(([kind, hook]) => [
    ...kindProblems(kind, { at: `${at}["${kind}"]`, accepts }),
    ...formProblems(hook, `${at}["${kind}"]`),
  ]);
}

function kindProblems(
  kind: string,
  { at, accepts }: { readonly at: string; readonly accepts: unknown },
): readonly Problem[] {
  if (kind === 'cancel' || kind === 'approval-decision')
    return [
      {
        at,
        seen: 'is handled by the framework.',
        mend: 'Remove the hook: cancellations and decisions have their own steps.',
      },
    ];
  if (!(SIGNAL_KINDS as readonly string[]).includes(kind))
    return [
      {
        at,
        seen: 'is not a kind of signal.',
        mend: `Choose from: ${SIGNAL_KINDS.join(', ')}.`,
      },
    ];
  if (Array.isArray(accepts) && !accepts.includes(kind))
    return [
      {
        at,
        seen: 'is a hook for a kind that the agent does not accept.',
        mend: `Add "${kind}" to accepts, or remove the hook.`,
      },
    ];
  return [];
}

function formProblems(hook: unknown, at: string): readonly Problem[] {
  if (Object.prototype.toString.call(hook) === '[object AsyncGeneratorFunction]') return [];
  return [
    {
      at,
      seen: `is ${typeof hook === 'function' ? 'not an async generator function' : shown(hook)}.`,
      mend: 'Write `async function* (signal, context) { … }`.',
    },
  ];
}
