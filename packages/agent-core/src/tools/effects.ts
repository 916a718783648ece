export const DATA_ACCESSES = ['none', 'read', 'write', 'read-write'] as const;
export const EXTERNALITIES = ['local', 'external', 'unknown'] as const;
export const IDEMPOTENCIES = [
  'idempotent',
  'conditionally-idempotent',
  'non-idempotent',
  'unknown',
] as const;

/** Idempotent means that the receiver applies one key once (or refuses a smaller attempt); "may be repeated" is not enough. */
export type Idempotency = (typeof IDEMPOTENCIES)[number];

/** What a tool does to the world: the basis of risk, approval and recovery. */
export type Effects = {
  readonly access: (typeof DATA_ACCESSES)[number];
  readonly externality: (typeof EXTERNALITIES)[number];
  readonly destructive: boolean;
  readonly network: boolean;
};

const preset = (given: Effects) => (): Effects => given;

/** Presets, as in the contract's table of effects. */
export const effects: {
  readOnly(): Effects;
  writeState(): Effects;
  externalSideEffect(): Effects;
  destructiveAction(): Effects;
} = {
  readOnly: preset({ access: 'read', externality: 'local', destructive: false, network: false }),
  writeState: preset({ access: 'write', externality: 'local', destructive: false, network: false }),
  externalSideEffect: preset({
    access: 'read-write',
    externality: 'external',
    destructive: false,
    network: true,
  }),
  destructiveAction: preset({
    access: 'write',
    externality: 'external',
    destructive: true,
    network: true,
  }),
};
