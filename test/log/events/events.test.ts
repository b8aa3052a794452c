import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { listRead } from '../../../src/log/events/delivery.ts';
import type { Log } from '../../../src/log/log.ts';
import { capturedLog } from '../../support/captured-log.ts';

type LogEvent = (log: Log, facts: unknown, circumstances: unknown) => void;

const folder = path.resolve(import.meta.dirname, '../../../src/log/events');
const functions: [name: string, LogEvent][] = [];
for (const file of await readdir(folder)) {
  const module = (await import(path.join(folder, file))) as Record<string, LogEvent>;
  functions.push(...Object.entries(module));
}

it.each(functions)(
  '%s writes one line with a stable event name and keeps its facts',
  (_, logEvent) => {
    const { log, lines } = capturedLog();
    logEvent(log, { order: 'PO-1', outcome: 'failed' }, {});
    expect(lines).toHaveLength(1);
    expect(lines[0]?.['event']).toMatch(/^[a-z]+(-[a-z]+)+$/);
  },
);

it('no two events have the same name', () => {
  const { log, lines } = capturedLog();
  for (const [, logEvent] of functions) logEvent(log, {}, {});
  const names = lines.map((line) => line['event']);
  expect(names.length).toBeGreaterThan(45);
  expect(new Set(names).size).toBe(names.length);
});

it.each([
  ['complete', true, 'info'],
  ['failed', true, 'warn'],
  ['unavailable', true, 'warn'],
  ['failed', false, 'debug'],
] as const)('a list call that ended as %s, news: %s, is logged at %s', (outcome, isNews, level) => {
  const { log, lines } = capturedLog();
  const reason = 'the list answers HTTP 500';
  listRead(log, { orders: 0, asked: 1, durationMs: 1, outcome, reason }, isNews);
  expect(lines).toMatchObject([{ level, event: 'list-read', outcome, reason, msg: 'list read' }]);
});
