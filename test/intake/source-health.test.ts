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
  for (let at = 2_500; at < 1_000_000; at += 500)
    failAt(at, at % 1_000 === 0 ? 'missing' : 'no marker');
  failAt(2_000_000, 'missing');
  expect(reasons().length).toBeLessThan(15);
  expect(reasons().at(-1)).toBe('missing');
  health.recover();
  failAt(2_000_001, 'missing');
  expect(reasons().slice(-2)).toEqual(['back', 'missing']);
});

it('a source is lost for good once its checks have failed for some seconds', () => {
  let now = 0;
  const clock = { ...systemClock, monotonic: () => now };
  const health = createSourceHealth(inboxSource('/in'), '/in', clock, capturedLog().log);
  const lostAt = (at: number) => {
    now = at;
    health.fail(new Error('missing'));
    return health.lasting();
  };
  expect([lostAt(0), lostAt(2_900)]).toEqual([undefined, undefined]);
  // Nothing was checked meanwhile.
  now = 60_000;
  expect(health.lasting()).toBeUndefined();
  expect(lostAt(60_000)).toEqual([{ source: 'inbox', reason: 'missing' }]);
  health.recover();
  expect([health.lasting(), lostAt(90_000)]).toEqual([undefined, undefined]);
});
