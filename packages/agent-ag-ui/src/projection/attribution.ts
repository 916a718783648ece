/** The nested run that something belongs to; undefined for the run itself. */
export type Owner = string | undefined;

/** The protocol's own mark of a nested run: left out for the run itself, never `null`. */
export function attributed(owner: Owner): { readonly subagentRunId?: string } {
  return owner === undefined ? {} : { subagentRunId: owner };
}
