import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Order, Stop, ToolKind } from '../child/order.ts';
import { type Child, startChild } from './child-process.ts';

export const STORES = ['SQLite', 'PostgreSQL'] as const;
export type StoreKind = (typeof STORES)[number];

/** Where one case is played: a database, a receiver, and processes that it starts. */
export type Cell = {
  readonly store: StoreKind;
  readonly tool: ToolKind;
  readonly url: string;
  readonly folder: string;
  readonly agent: string;
  /** From here on its database is another one. */
  moveTo(url: string): void;
  /** What has to be put in order when the case is over. */
  onClose(close: () => Promise<void>): void;
  /** Starts a process; the order says what is different from a plain one. */
  start(order?: Partial<Order>): Child;
  /** Starts a process that is to be killed at a point, and waits until it is dead. */
  killedAt(at: string | Stop, order?: Partial<Order>): Promise<void>;
  /** Starts a process that brings the run to its end. */
  finished(order?: Partial<Order>): Promise<Child>;
  /** What every process has said so far. */
  said(): string;
};

export type CellOptions = {
  readonly program: string;
  readonly store: StoreKind;
  readonly tool: ToolKind;
  /** Of a database of its own kind; for SQLite a file is made in the folder. */
  readonly postgresUrl: string;
  readonly folder: string;
  readonly agent: string;
  /** What holds for every process of the case. */
  readonly common: Partial<Order>;
};

/** A cell, and what ends every process that is still there. */
export function openCell(options: CellOptions): {
  readonly cell: Cell;
  readonly close: () => void;
} {
  const { program, store, tool, postgresUrl, folder, agent, common } = options;
  mkdirSync(folder, { recursive: true });
  let url = store === 'SQLite' ? `file:${join(folder, 'runs.db')}` : postgresUrl;
  const children: Child[] = [];
  const closing: (() => Promise<void>)[] = [];
  const start: Cell['start'] = (order = {}) => {
    const child = startChild(program, {
      url,
      folder,
      agent,
      tool,
      task: { kind: 'see-through' },
      ...common,
      ...order,
    });
    children.push(child);
    return child;
  };
  const cell: Cell = {
    store,
    tool,
    get url() {
      return url;
    },
    folder,
    agent,
    moveTo: (other) => {
      url = other;
    },
    onClose: (close) => void closing.push(close),
    start,
    killedAt: async (at, order = {}) => {
      const stop: Stop = typeof at === 'string' ? { at, how: 'kill' } : at;
      await start({ ...order, stops: [...(order.stops ?? []), stop] }).killed();
    },
    finished: async (order) => {
      const child = start(order);
      await child.ended();
      return child;
    },
    said: () => children.map((child) => JSON.stringify(child.said)).join(' '),
  };
  return {
    cell,
    close: async () => {
      for (const child of children) child.kill();
      for (const close of closing) await close();
    },
  };
}
