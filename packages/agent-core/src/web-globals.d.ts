/**
 * The Web globals that the core uses, and no more: with `types: []` neither `process` nor `Buffer`
 * type-checks here, so the core stays on what every runtime has.
 */
interface AbortSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
  throwIfAborted(): void;
}
interface AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}
declare var AbortController: { new (): AbortController };
declare var AbortSignal: { timeout(ms: number): AbortSignal };
interface Headers {
  get(name: string): string | null;
}
interface Request {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly signal: AbortSignal;
  readonly body: { getReader(): ByteReader } | null;
  text(): Promise<string>;
}
interface ByteReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(reason?: unknown): Promise<void>;
}
interface Response {
  readonly status: number;
  readonly headers: Headers;
  text(): Promise<string>;
}
declare var performance: { now(): number };
declare var crypto: { getRandomValues(array: Uint8Array): Uint8Array };
declare function setTimeout(callback: () => void, ms: number): unknown;
declare function clearTimeout(timer: unknown): void;
declare function queueMicrotask(callback: () => void): void;
declare function structuredClone<T>(value: T): T;
interface TextEncoder {
  encode(text: string): Uint8Array;
}
declare var TextEncoder: { new (): TextEncoder };
interface TextDecoder {
  decode(bytes?: Uint8Array, options?: { stream?: boolean }): string;
}
declare var TextDecoder: { new (label?: string, options?: { fatal?: boolean }): TextDecoder };
