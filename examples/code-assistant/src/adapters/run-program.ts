import { type ChildProcess, spawn } from 'node:child_process';
import { boundedOutput } from './bounded-output.ts';

export type Program = {
  readonly command: string;
  readonly args: readonly string[];
  /** Absolute. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** For each of the two streams. */
  readonly maxOutputBytes: number;
  readonly input?: string;
};

export type Finished = {
  /** Absent when a signal ended the program. */
  readonly exitCode?: number;
  readonly timedOut: boolean;
  readonly stdout: string;
  readonly stderr: string;
  readonly omittedBytes: number;
  readonly durationMs: number;
};

/** From the polite request to the end of the whole group. */
const GRACE_MS = 500;
/** A program that left its group may hold the streams open for ever. */
const DRAIN_MS = 250;
const HAS_GROUPS = process.platform !== 'win32';

/**
 * Runs a program without a shell and waits for its end. On a timeout or a stop the whole process group
 * ends, and what a program leaves running behind itself ends with it.
 */
export function runProgram(
  program: Program,
  { signal }: { readonly signal: AbortSignal },
): Promise<Finished> {
  signal.throwIfAborted();
  const { command, args, folder, environment, timeoutMs, maxOutputBytes, input } = program;
  const started = performance.now();
  const stdout = boundedOutput(maxOutputBytes);
  const stderr = boundedOutput(maxOutputBytes);
  const child = spawn(command, args, {
    cwd: folder,
    env: environment,
    shell: false,
    detached: HAS_GROUPS,
    windowsHide: true,
    stdio: 'pipe',
  });
  child.stdout.on('data', (chunk: Buffer) => stdout.add(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.add(chunk));
  // A program that does not read its input closes the pipe: not a failure of ours.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input ?? '');

  return new Promise((resolve, reject) => {
    let timedOut = false;
    const timers: NodeJS.Timeout[] = [];
    const after = (milliseconds: number, work: () => void): void => {
      timers.push(setTimeout(work, milliseconds));
    };
    const stop = (): void => {
      endGroup(child, 'SIGTERM');
      after(GRACE_MS, () => endGroup(child, 'SIGKILL'));
    };
    const settle = (): void => {
      for (const timer of timers) clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    };
    after(timeoutMs, () => {
      timedOut = true;
      stop();
    });
    signal.addEventListener('abort', stop, { once: true });

    child.once('error', (reason: NodeJS.ErrnoException) => {
      settle();
      reject(reason.code === 'ENOENT' ? notFound(command) : reason);
    });
    child.once('exit', () => {
      endGroup(child, 'SIGKILL');
      after(DRAIN_MS, () => {
        child.stdout.destroy();
        child.stderr.destroy();
      });
    });
    child.once('close', (code) => {
      settle();
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      resolve({
        ...(code === null ? {} : { exitCode: code }),
        timedOut,
        stdout: stdout.text(),
        stderr: stderr.text(),
        omittedBytes: stdout.omittedBytes() + stderr.omittedBytes(),
        durationMs: Math.round(performance.now() - started),
      });
    });
  });
}

function endGroup(child: ChildProcess, how: 'SIGTERM' | 'SIGKILL'): void {
  if (child.pid === undefined) return;
  try {
    if (HAS_GROUPS) process.kill(-child.pid, how);
    else child.kill(how);
  } catch {
    // Nobody is left in the group.
  }
}

function notFound(command: string): Error {
  return new Error(`There is no program "${command}" on the PATH. Install it, or use another one.`);
}
