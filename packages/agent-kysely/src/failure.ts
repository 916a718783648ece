import { AgentError } from '@hexagent/agent-core';

/** How a store is named in errors: never with a password. */
export type Place = {
  /** `PostgreSQL at db.example:5432/app`, `the SQLite file "hexagent.db"`. */
  readonly name: string;
  /** What to check when it does not answer. */
  readonly check: string;
};

/** The database does not answer now; the same call may succeed later. */
export function storeUnreachable(place: Place, cause: unknown): AgentError {
  return new AgentError('STORE_UNREACHABLE', {
    message: `The store does not answer: ${place.name}: ${textOf(cause)}.`,
    mend: place.check,
    retryable: true,
    cause,
  });
}

/** The database answered with an error that sending the same again will not change. */
export function storeFailed(message: string, mend: string, cause?: unknown): AgentError {
  return new AgentError('STORE_FAILED', { message, mend, cause });
}

export function storeDriverMissing(driver: string, url: string, cause: unknown): AgentError {
  return new AgentError('STORE_DRIVER_MISSING', {
    message: `The store "${url}" needs the package "${driver}", which is not installed.`,
    mend: `Install it: npm install ${driver}`,
    cause,
  });
}

export function storeNotMigrated(place: Place, pending: readonly string[]): AgentError {
  return new AgentError('STORE_NOT_MIGRATED', {
    message: `The tables of the store are not up to date: ${place.name} lacks ${pending.join(', ')}.`,
    mend: 'Run "npx hexagent migrate", then start again.',
  });
}

/** A row cannot be what this store wrote. */
export function recordCorrupt(where: string, seen: string, cause?: unknown): AgentError {
  return new AgentError('RECORD_CORRUPT', {
    message: `The record ${where} cannot be read: it holds ${seen}.`,
    mend: 'It was altered outside of Hexagent, or the file is damaged: restore it from a backup, or remove that run.',
    cause,
  });
}

export function formatUnknown(where: string, seen: string): AgentError {
  return new AgentError('FORMAT_UNKNOWN', {
    message: `${where} was written by a newer version of Hexagent: ${seen}.`,
    mend: 'Update the @hexagent packages of this process to the version that wrote it.',
  });
}

export function textOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  if (cause instanceof AggregateError && cause.message === '') {
    return cause.errors.map(textOf).join('; ');
  }
  return cause.message;
}
