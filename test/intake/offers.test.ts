import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { createOffers, createRetryGaps } from '../../src/intake/offers.ts';
import { capturedLog } from '../support/captured-log.ts';

test('the gaps between attempts at a failing batch double up to a minute, and end with a success', () => {
  let now = 0;
  const gaps = createRetryGaps({ ...systemClock, monotonic: () => now });
  const attempts: number[] = [];
  for (; now <= 200_000; now += 500) {
    if (!gaps.isDue('batch')) continue;
    attempts.push(now);
    gaps.failed('batch');
  }
  expect(attempts).toEqual([0, 500, 1_500, 3_500, 7_500, 15_500, 31_500, 63_500, 123_500, 183_500]);
  gaps.forget('batch');
  expect(gaps.isDue('batch')).toBe(true);
});

test('a file that could not be taken is offered at once after it changed, for instance its permissions', async () => {
  let now = 0;
  let tries = 0;
  const clock = { ...systemClock, monotonic: () => now };
  const offers = createOffers('inbox', clock, capturedLog().log, async () => {
    tries += 1;
    throw Object.assign(new Error(`try ${tries}`), { code: 'EACCES' });
  });
  const ready = { file: '/inbox/a.csv', mtimeNs: 0n };
  for (; now <= 20_000; now += 500) await offers.offer({ ...ready, version: 'mode 0000' });
  expect(tries).toBe(6);
  await offers.offer({ ...ready, version: 'mode 0644' });
  await offers.offer({ ...ready, version: 'mode 0644' });
  expect(tries).toBe(7);
  expect(offers.refused([ready.file])).toMatchObject([
    { file: 'a.csv', reason: expect.stringMatching(/^try 7/) },
  ]);
});
