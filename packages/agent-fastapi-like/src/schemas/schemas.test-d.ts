import type {
  AgentDescription as AgentDescriptionType,
  AgentEvent,
  ChainReport as ChainReportType,
  Envelope as EnvelopeType,
  EvidenceRow as EvidenceRowType,
  ForkOptions,
  Grant as GrantType,
  LedgerCall as LedgerCallType,
  Message as MessageType,
  RunResult as RunResultType,
  RunSnapshot,
  RunState,
  ShownMessage as ShownMessageType,
  Usage as UsageType,
  Wait as WaitType,
} from '@hexagent/agent-core';
import type { Static } from 'typebox';
import { expectTypeOf, test } from 'vitest';
import type { Envelope, Event } from './event.ts';
import type { Message, ShownMessage } from './message.ts';
import type { ChainReport, EvidenceRow, Grant, LedgerCall, Snapshot } from './record.ts';
import type { ForkBody } from './requests.ts';
import type { RunResult } from './result.ts';
import type { AgentDescription, Run, Usage } from './run.ts';
import type { Wait } from './wait.ts';

/** The names of every field, through unions and lists: what one side has and the other lacks shows itself here. */
type FieldsOf<T> = T extends readonly (infer Item)[]
  ? FieldsOf<Item>
  : T extends object
    ? keyof T & string
    : never;

test('a schema has the fields that core has', () => {
  expectTypeOf<FieldsOf<AgentDescriptionType>>().toEqualTypeOf<
    FieldsOf<Static<typeof AgentDescription>>
  >();
  expectTypeOf<FieldsOf<RunState>>().toEqualTypeOf<FieldsOf<Static<typeof Run>>>();
  expectTypeOf<FieldsOf<WaitType>>().toEqualTypeOf<FieldsOf<Static<typeof Wait>>>();
  expectTypeOf<FieldsOf<UsageType>>().toEqualTypeOf<FieldsOf<Static<typeof Usage>>>();
  expectTypeOf<FieldsOf<AgentEvent>>().toEqualTypeOf<FieldsOf<Static<typeof Event>>>();
  expectTypeOf<AgentEvent['type']>().toEqualTypeOf<Static<typeof Event>['type']>();
  expectTypeOf<FieldsOf<EnvelopeType>>().toEqualTypeOf<FieldsOf<Static<typeof Envelope>>>();
  expectTypeOf<FieldsOf<MessageType>>().toEqualTypeOf<FieldsOf<Static<typeof Message>>>();
  expectTypeOf<FieldsOf<ShownMessageType>>().toEqualTypeOf<FieldsOf<Static<typeof ShownMessage>>>();
  expectTypeOf<FieldsOf<LedgerCallType>>().toEqualTypeOf<FieldsOf<Static<typeof LedgerCall>>>();
  expectTypeOf<FieldsOf<RunSnapshot>>().toEqualTypeOf<FieldsOf<Static<typeof Snapshot>>>();
  expectTypeOf<FieldsOf<EvidenceRowType>>().toEqualTypeOf<FieldsOf<Static<typeof EvidenceRow>>>();
  expectTypeOf<FieldsOf<ChainReportType>>().toEqualTypeOf<FieldsOf<Static<typeof ChainReport>>>();
  expectTypeOf<FieldsOf<GrantType>>().toEqualTypeOf<FieldsOf<Static<typeof Grant>>>();
});

test('words are the words of core', () => {
  expectTypeOf<RunState['status']>().toEqualTypeOf<Static<typeof Run>['status']>();
  expectTypeOf<WaitType['kind']>().toEqualTypeOf<Static<typeof Wait>['kind']>();
  expectTypeOf<Exclude<RunResultType<unknown>['kind'], 'paused'>>().toEqualTypeOf<
    Static<typeof RunResult>['kind']
  >();
});

test('a body that has passed is what the gateway takes', () => {
  expectTypeOf<Static<typeof ForkBody>>().toExtend<ForkOptions>();
});
