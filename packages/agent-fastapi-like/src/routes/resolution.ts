import {
  type Decision,
  inputInvalid,
  type Problem,
  type WaitResolution,
} from '@hexagent/agent-core';
import type { Static } from 'typebox';
import type { ResolutionBody } from '../schemas/requests.ts';

type Body = Static<typeof ResolutionBody>;
type Field = 'remember' | 'input' | 'value' | 'outcome' | 'content' | 'result';

/** What a decision may say, or leave out. */
const OPTIONAL: Readonly<Partial<Record<Decision, readonly Field[]>>> = { approve: ['remember'] };

/** What a decision says beside itself. */
const FIELDS: Readonly<Record<Decision, readonly Field[]>> = {
  approve: [],
  reject: [],
  modify: ['input'],
  defer: [],
  cancel: [],
  answer: ['value'],
  result: ['outcome', 'content'],
  happened: ['result'],
  'did-not-happen': [],
  abandon: [],
};
const ALL: readonly Field[] = ['remember', 'input', 'value', 'outcome', 'content', 'result'];

/** A checked body as the answer to a wait; every field that is missing, or does not belong there, at once. */
export function resolutionOf(body: Body): WaitResolution {
  const wanted = FIELDS[body.decision];
  const problems: Problem[] = [];
  for (const field of ALL) {
    const given = body[field] !== undefined;
    const may = OPTIONAL[body.decision]?.includes(field) ?? false;
    if (given ? may || wanted.includes(field) : !wanted.includes(field)) continue;
    problems.push({
      at: `body.${field}`,
      seen: given ? `does not go with "${body.decision}".` : `is missing for "${body.decision}".`,
      mend: given ? 'Remove it.' : 'Add it.',
    });
  }
  if (problems.length > 0) throw inputInvalid('This answer', problems);
  // The loop above has checked what the union says: these fields, and no others, stand beside the decision.
  return body as WaitResolution;
}
