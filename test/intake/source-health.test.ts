import { expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { createSourceHealth } from '../../src/intake/watch.ts';
import { capturedLog } from '../support/captured-log.ts';
import { inboxSource } from '../support/inbox-source.ts';

it('a source logs each reason why it is unreachable, at growing intervals', () => {
  let now = 0;
  const { log, lines } = capturedLog();
  const clock = { ...systemClock, monotonic: () => now };
  const health = createSourceHealth(inboxSource('/in'), '/in', clock, log);
  const reasons = () => lines.map(({ reason = 'back' }) => reason);
  const failAt = (at: number, reason: string) => {
    now = at;
    health.fail(new Error(reason));
  };
  failAt(0, 'missing');
  failAt(1_000, 'missing');
  failAt(2_000, 'no marker');
  expect(reasons()).toEqual(['missing', 'no marker']);
  // Flapping is not logged each time, and what lasts is logged at last.
  for (let at = 2_500; at < 1_000_000; at += 500) failAt(at, at % 1_000 === 0 ? 'missing' : 'no marker');
  failAt(2_000_000, 'missing');
  expect(reasons().length).toBeLessThan(15);
  expect(reasons().at(-1)).toBe('missing');
  health.recover();
  failAt(2_000_001, 'missing');
  expect(reasons().slice(-2)).toEqual(['back', 'missing']);
});
