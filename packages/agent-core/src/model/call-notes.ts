import type { ModelSelection } from '../vocabulary/model-selection.ts';
import type { ModelRequest } from './agent-model.ts';

/** What wrappers further in note of one call, for those further out. */
type Notes = { tries: number };

const notes = new WeakMap<ModelRequest, Notes>();

function notesOf(request: ModelRequest): Notes {
  const known = notes.get(request) ?? { tries: 0 };
  notes.set(request, known);
  return known;
}

/** Another try of a call: of the same model, or of the next one. */
export function noteTry(request: ModelRequest): void {
  notesOf(request).tries += 1;
}

/** How many further tries have been made under a request so far. */
export function furtherTries(request: ModelRequest): number {
  return notes.get(request)?.tries ?? 0;
}

/** A request that stands for the given one before another model: its tries are counted with it. */
export function standsFor(other: ModelRequest, request: ModelRequest): ModelRequest {
  notes.set(other, notesOf(request));
  return other;
}

/** The same request with another selection, or with none. */
export function selecting(
  request: ModelRequest,
  selection: ModelSelection | undefined,
): ModelRequest {
  const { selection: _, ...plain } = request;
  return standsFor(selection === undefined ? plain : { ...plain, selection }, request);
}
