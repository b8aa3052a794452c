import { expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { deliveryPauses, type Notice } from '../../src/notify/notice.ts';
import { openOutbox } from '../../src/notify/outbox.ts';
import { capturedLog } from '../support/captured-log.ts';
import { until } from '../support/until.ts';

const pauseOf = (reason: string): Notice => deliveryPauses({ environment: 'staging', at: 0, since: 0, reason });

function outboxTo(send: (notice: Notice, signal: AbortSignal) => Promise<void>, waits = [1, 1]) {
  const { log, lines } = capturedLog();
  return { lines, outbox: openOutbox({ receiver: 'test', send, clock: systemClock, log, waits }) };
}

it('sends in order, one at a time', async () => {
  const sent: (string | undefined)[] = [];
  let atOnce = 0;
  const { outbox } = outboxTo(async ({ reason }) => {
    atOnce += 1;
    expect(atOnce).toBe(1);
    await systemClock.sleep(2);
    atOnce -= 1;
    sent.push(reason);
  });
  await using _ = outbox;
  for (const reason of ['1', '2', '3']) outbox.put(pauseOf(reason));
  await until('all sent', () => sent.length === 3);
  outbox.put(pauseOf('4'));
  await until('the last sent', () => sent.length === 4);
  expect(sent).toEqual(['1', '2', '3', '4']);
});

it('tries so often as it has waits and one more, then goes on with the next', async () => {
  const tries: (string | undefined)[] = [];
  const { outbox, lines } = outboxTo(async ({ reason }) => {
    tries.push(reason);
    if (reason === 'bad') throw new Error('not now');
  });
  await using _ = outbox;
  outbox.put(pauseOf('bad'));
  outbox.put(pauseOf('good'));
  await until('the second sent', () => tries.includes('good'));
  expect(tries).toEqual(['bad', 'bad', 'bad', 'good']);
  expect(lines.find(({ level }) => level === 'error')).toMatchObject({
    msg: 'notice could not be sent',
    receiver: 'test',
    attempt: 3,
    reason: 'not now',
  });
});

it('drops the oldest when more than a hundred wait, and says so', async () => {
  const { outbox, lines } = outboxTo((_, signal) => new Promise((_, no) => signal.addEventListener('abort', no)));
  {
    await using _ = outbox;
    for (let i = 0; i < 103; i += 1) outbox.put(pauseOf(String(i)));
    expect(lines.filter(({ msg }) => String(msg).includes('the oldest is dropped'))).toHaveLength(2);
  }
});

it('tries once more at the end instead of waiting, and ends', async () => {
  let tries = 0;
  const { outbox, lines } = outboxTo(async () => {
    tries += 1;
    throw new Error('never');
  }, [3_600_000]);
  {
    await using _ = outbox;
    outbox.put(pauseOf('x'));
    await until('the first try', () => tries === 1);
  }
  expect(tries).toBe(2);
  expect(lines.at(-1)).toMatchObject({ msg: 'notice could not be sent', reason: 'never' });
});
