import { createLog, type Log } from '../../src/log/log.ts';

/** A log whose lines are kept as objects. */
export function capturedLog(): { log: Log; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const write = (text: string): boolean => {
    for (const line of text.split('\n')) if (line !== '') lines.push(JSON.parse(line));
    return true;
  };
  return { log: createLog({ level: 'debug', pretty: false, stream: { write } }), lines };
}
