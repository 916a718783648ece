import { inputInvalid, type Problem } from '../base/error-catalog.ts';
import type { AgentDefinition } from '../definition/agent-definition.ts';
import { modalityOf } from '../model/modality.ts';
import type { RunSetup } from '../runner/run-setup.ts';
import type { MediaPart, Part } from '../vocabulary/message.ts';
import type { RunInput } from '../vocabulary/run-input.ts';

/**
 * Holds the media of an input against what the model reads, before anything is stored or fetched. What an agent with its own
 * `execute` does with them is its own.
 *
 * @throws AgentError `INPUT_INVALID` with every part that cannot be read.
 */
export function checkMedia(
  setup: Pick<RunSetup, 'model' | 'blobs'>,
  definition: AgentDefinition,
  { message, history, selection }: RunInput,
): void {
  const { model } = setup;
  if (model === undefined || definition.execute !== undefined) return;
  const found: Found[] = typeof message === 'string' ? [] : mediaIn(message, 'input.message');
  history?.forEach(({ parts }, index) => {
    if (parts.some(mayHold)) found.push(...mediaIn(parts, `input.history[${index}].parts`));
  });
  if (found.length === 0) return;
  const { inputModalities: reads } = model.capabilities(selection);
  const problems = found.flatMap(({ at, part }): readonly Problem[] => {
    const { mediaType, source } = part;
    if (!reads.includes(modalityOf(mediaType)))
      return [
        {
          at,
          seen: `is ${mediaType}, and the model reads ${reads.join(', ')}.`,
          mend: 'Send what it reads, or select a model that reads it.',
        },
      ];
    if (source.kind !== 'blob' || setup.blobs !== undefined) return [];
    return [
      {
        at,
        seen: 'lies in a blob store, and none is bound.',
        mend: 'Send it inline or by its address, or bind a BlobStore.',
      },
    ];
  });
  if (problems.length > 0) throw inputInvalid('The run input', problems);
}

type Found = { readonly at: string; readonly part: MediaPart };

function mediaIn(parts: readonly Part[], at: string): Found[] {
  return parts.flatMap((part, index): Found[] => {
    const place = `${at}[${index}]`;
    if (part.type === 'media') return [{ at: place, part }];
    return part.type === 'tool-result' ? mediaIn(part.content, `${place}.content`) : [];
  });
}

function mayHold({ type }: Part): boolean {
  return type === 'media' || type === 'tool-result';
}
