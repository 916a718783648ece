import type { WebSocket } from '@fastify/websocket';
import {
  AgentError,
  type Caller,
  httpRequestInvalid,
  inputInvalid,
  type Principal,
  type RunGateway,
  type RunId,
} from '@hexagent/agent-core';
import type { FastifyBaseLogger } from 'fastify';
import { schemaCheck } from '../api/validation.ts';
import { resolutionOf } from '../routes/resolution.ts';
import { runInputOf } from '../routes/run-input.ts';
import type { HostStreams } from '../streams/host-streams.ts';
import { beginUnder, type OnDisconnect } from '../streams/on-disconnect.ts';
import { logRun } from '../streams/run-log.ts';
import { takeInOrder } from './inbox.ts';
import { CLOSE_CODES, ClientMessage } from './messages.ts';
import { type Outbox, outboxOf } from './outbox.ts';
import { closeToStranger, refusal } from './refusal.ts';
import { type WatchedRuns, watchedRuns } from './watched-runs.ts';

export type SessionParts = {
  readonly gateway: RunGateway;
  readonly streams: HostStreams;
  readonly agent: string;
  /** Aborted when the socket closes, or the host does. */
  readonly signal: AbortSignal;
  readonly onDisconnect: OnDisconnect | undefined;
  /** Bytes of one message. */
  readonly bodyBytes: number;
  readonly log: FastifyBaseLogger;
  /** Who asks, when that was shown at the upgrade. */
  readonly principal: Principal | undefined;
  /** Who asks, by a token that came as the first message. */
  readonly authenticate: (token: string) => Promise<Principal>;
  /** Counts a message of this caller; throws `HTTP_RATE_LIMITED`. */
  readonly admit: (principal: Principal) => Promise<void>;
};

/** What a client may get wrong in a row before it is taken for none of this protocol. */
const MOST_FAULTS = 20;

const check = schemaCheck(ClientMessage);

/** Talks with one client: takes its messages in their order, and sends the events of the runs that it watches. */
export function serveSocket(socket: WebSocket, parts: SessionParts): void {
  const session = new Session(socket, parts);
  takeInOrder(socket, { bodyBytes: parts.bodyBytes, take: (text) => session.take(text) });
}

/** What came of a message, and what follows when its answer has been sent. */
type Asked = { readonly runId?: RunId; readonly after?: () => void };
type Admitted = { readonly caller: Caller; readonly runs: WatchedRuns };

class Session {
  readonly #socket: WebSocket;
  readonly #parts: SessionParts;
  readonly #outbox: Outbox;
  #admitted: Admitted | undefined;
  #faults = 0;

  constructor(socket: WebSocket, parts: SessionParts) {
    this.#socket = socket;
    this.#parts = parts;
    this.#outbox = outboxOf(socket);
    if (parts.principal !== undefined) this.#admit(parts.principal);
  }

  async take(text: string): Promise<void> {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    let id: string | undefined;
    try {
      const given = jsonOf(text);
      id = idOf(given);
      const message = messageOf(given);
      await this.#do(message);
      this.#faults = 0;
    } catch (error) {
      await this.#refuse(error, id);
    }
  }

  async #do(message: ClientMessage): Promise<void> {
    if (message.type === 'authenticate') return this.#authenticate(message.token);
    if (this.#admitted === undefined) {
      this.#socket.close(CLOSE_CODES.unauthenticated, 'The first message is "authenticate".');
      return;
    }
    const { caller } = this.#admitted;
    await this.#parts.admit(caller.principal);
    const { id } = message;
    if (message.type === 'ping') {
      await this.#outbox.send({ v: 1, type: 'pong', ...(id === undefined ? {} : { id }) });
      return;
    }
    const { runId, after } = await this.#ask(message, this.#admitted);
    await this.#outbox.send({
      v: 1,
      type: 'done',
      ...(id === undefined ? {} : { id }),
      ...(runId === undefined ? {} : { runId }),
    });
    after?.();
  }

  async #ask(
    message: Exclude<ClientMessage, { readonly type: 'authenticate' | 'ping' }>,
    { caller, runs }: Admitted,
  ): Promise<Asked> {
    const { gateway } = this.#parts;
    switch (message.type) {
      case 'start':
        return this.#start(message, { caller, runs });
      case 'watch': {
        runs.checkRoom();
        // A run that is not there, or not this caller's, is told as the answer to the message.
        const { runId } = message;
        await gateway.get(runId, caller);
        return { runId, after: () => runs.watch(runId, message.after ?? 0) };
      }
      case 'unwatch':
        runs.unwatch(message.runId);
        return {};
      case 'signal': {
        const { payload = {}, ...signal } = message.signal;
        await gateway.signal(message.runId, { ...signal, payload }, caller);
        return { after: () => runs.goOn(message.runId) };
      }
      case 'resolve':
        await gateway.resolve(message.waitId, resolutionOf(message.resolution), caller);
        return { after: () => runs.answered(message.waitId) };
      case 'cancel':
        await gateway.cancel(message.runId, message.reason, caller);
        return {};
    }
  }

  async #start(
    { input, onDisconnect }: Extract<ClientMessage, { readonly type: 'start' }>,
    { caller, runs }: Admitted,
  ): Promise<Asked> {
    const { gateway, agent, log } = this.#parts;
    const { clientRunId, ...body } = input;
    runs.checkRoom();
    const asking = clientRunId === undefined ? caller : { ...caller, requestKey: clientRunId };
    const policy = onDisconnect ?? this.#parts.onDisconnect;
    const begun = { gateway, agent, caller: asking, policy, log };
    const handle = await beginUnder(begun, (by) => gateway.start(agent, runInputOf(body), by));
    logRun(handle, log);
    const { runId } = handle;
    return { runId, after: () => runs.watch(runId, 0, (signal) => handle.events({ signal })) };
  }

  async #authenticate(token: string): Promise<void> {
    if (this.#admitted !== undefined)
      throw httpRequestInvalid('The caller of this socket is known.', 'Open another one.');
    try {
      this.#admit(await this.#parts.authenticate(token));
    } catch (error) {
      await this.#outbox.send(refusal(error));
      closeToStranger(this.#socket, error);
    }
  }

  #admit(principal: Principal): void {
    const { gateway, streams, signal } = this.#parts;
    const caller = { principal, signal };
    const outbox = this.#outbox;
    this.#admitted = { caller, runs: watchedRuns({ gateway, caller, outbox, streams }) };
    void outbox.send({ v: 1, type: 'ready' });
  }

  async #refuse(error: unknown, id: string | undefined): Promise<void> {
    const { log, signal } = this.#parts;
    if (signal.aborted) return;
    if (!AgentError.is(error)) log.error({ err: error }, 'a message failed');
    await this.#outbox.send(refusal(error, { id }));
    this.#faults += 1;
    if (this.#faults >= MOST_FAULTS)
      this.#socket.close(CLOSE_CODES.policy, `${MOST_FAULTS} messages in a row were refused.`);
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text, (key, value: unknown) => {
      if (key === '__proto__' || (key === 'constructor' && hasPrototype(value)))
        throw new Error(key);
      return value;
    });
  } catch {
    throw httpRequestInvalid(
      'This message is not JSON, or has the key "__proto__" or "constructor.prototype".',
      'Send one JSON object a frame, without such keys.',
    );
  }
}

/** What is not taken as a body is not taken as a message either. */
function hasPrototype(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype');
}

/** The name under which the client wants its answer, also for a message that does not fit. */
function idOf(given: unknown): string | undefined {
  if (typeof given !== 'object' || given === null || !('id' in given)) return undefined;
  return typeof given.id === 'string' ? given.id.slice(0, 128) : undefined;
}

function messageOf(given: unknown): ClientMessage {
  const problems = check(given, 'message');
  if (problems.length > 0) throw inputInvalid('This message', problems);
  // The schema that the type comes from has just let it pass.
  return given as ClientMessage;
}
