import { toBase64 } from '../base/base64.ts';
import { modelRequestInvalid } from '../base/error-catalog.ts';
import type { AgentModel, ModelRequest } from '../model/agent-model.ts';
import { modalityOf } from '../model/modality.ts';
import type { MediaPart, Message, Part } from '../vocabulary/message.ts';
import type { ActiveRun } from './active-run.ts';

/** What has been read from the blob store for a run, by reference: a picture is sent with every request that follows it. */
const read = new WeakMap<ActiveRun, Map<string, string>>();

/** Whether anything of what the run has said so far is media. Every message is looked at once, so a run of texts pays nothing. */
export function holdsMedia(run: ActiveRun): boolean {
  const { messages } = run;
  for (; run.mediaSeen < messages.length && !run.hasMedia; run.mediaSeen += 1)
    run.hasMedia = anyMedia((messages[run.mediaSeen] as Message).parts);
  return run.hasMedia;
}

/**
 * The request as its model can read it, on this copy only: what lies in the blob store is fetched, and what the model does
 * not read, or a tool has put aside, is said in words. What a user has sent was checked at the start.
 *
 * @throws AgentError `MODEL_REQUEST_INVALID` for a blob of a user's message that cannot be read.
 */
export async function withMedia(
  run: ActiveRun,
  request: ModelRequest,
  model: AgentModel,
): Promise<ModelRequest> {
  const modalities = model.capabilities(request.selection).inputModalities;
  const messages: Message[] = [];
  for (const message of request.messages) {
    if (!anyMedia(message.parts)) {
      messages.push(message);
      continue;
    }
    const parts: Part[] = [];
    for (const part of message.parts)
      parts.push(await readable(run, part, { modalities, isResult: false }));
    messages.push({ ...message, parts });
  }
  return { ...request, messages };
}

type Reading = { readonly modalities: readonly string[]; readonly isResult: boolean };

async function readable(run: ActiveRun, part: Part, reading: Reading): Promise<Part> {
  if (part.type === 'tool-result') {
    const content: Part[] = [];
    for (const piece of part.content)
      content.push(await readable(run, piece, { ...reading, isResult: true }));
    return { ...part, content };
  }
  if (part.type !== 'media') return part;
  const { mediaType, source } = part;
  // A result that was cut names the place of the whole: fetching it would undo the cut.
  if (reading.isResult && source.kind === 'blob' && mediaType.startsWith('text/'))
    return said(part, `kept aside as "${source.ref}", not shown`);
  if (!reading.modalities.includes(modalityOf(mediaType)))
    return said(part, 'this model does not read it');
  if (source.kind !== 'blob') return part;
  try {
    return { ...part, source: { kind: 'inline', base64: await fetched(run, source.ref) } };
  } catch (cause) {
    run.abort.throwIfAborted();
    if (reading.isResult) return said(part, 'it could not be read again');
    throw modelRequestInvalid({
      reason: `The blob "${source.ref}" of a ${mediaType} part could not be read.`,
      mend: 'Check the blob store, and that the blob is still there.',
      cause,
    });
  }
}

async function fetched(run: ActiveRun, ref: string): Promise<string> {
  const known = read.get(run) ?? new Map<string, string>();
  read.set(run, known);
  const before = known.get(ref);
  if (before !== undefined) return before;
  const { blobs } = run.setup;
  if (blobs === undefined) throw new Error('no blob store is bound');
  const { scope } = run.facts.principal;
  const bytes = await run.abort.until(blobs.get(ref, { scope, signal: run.signal }));
  const base64 = toBase64(bytes);
  known.set(ref, base64);
  return base64;
}

function said({ mediaType }: MediaPart, why: string): Part {
  return { type: 'text', text: `[${mediaType}: ${why}]` };
}

/** Plain loops: every message of every run comes by here. */
function anyMedia(parts: readonly Part[]): boolean {
  for (const part of parts) {
    if (part.type === 'media') return true;
    if (part.type === 'tool-result' && anyMedia(part.content)) return true;
  }
  return false;
}
