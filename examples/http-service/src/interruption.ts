/** The first Ctrl-C comes twice, from the terminal and from npm, which passes it on. */
const ECHO_MS = 500;

/**
 * Ends a program in order at the first Ctrl-C or SIGTERM, and at once at the next.
 *
 * @param end comes to an end; the program ends with it when nothing else keeps it
 */
export function endWhenAsked(end: () => Promise<void>): void {
  let asked: number | undefined;
  const hear = (signal: 'SIGINT' | 'SIGTERM'): void => {
    if (asked === undefined) {
      asked = performance.now();
      end().catch((error: unknown) => {
        console.error(error);
        process.exitCode = 1;
      });
    } else if (performance.now() - asked > ECHO_MS) process.exit(signal === 'SIGINT' ? 130 : 143);
  };
  process.on('SIGINT', hear);
  process.on('SIGTERM', hear);
}
