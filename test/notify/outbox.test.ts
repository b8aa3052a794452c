import { expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { deliveryPaused, type Notice } from '../../src/notify/notice.ts';
import { openOutbox } from '../../src/notify/outbox.ts';
import { capturedLog } from '../support/captured-log.ts';
import { until } from '../support/until.ts';

const pauseOf = (reason: string): Notice =>
  deliveryPaused({ environment: 'staging', at: 0, since: 0, code: 'api-down', reason });

function outboxTo(
  send: (notice: Notice, signal: AbortSignal) => Promise<void>,
  retry = { attempts: 3, initial: 1, max: 1 },
) {
  const { log, lines } = capturedLog();
  return {
    lines,
    outbox: openOutbox({ receiver: 'test', send, clock: systemClock, log, now: () => 7, retry }),
  };
}

it('notices are sent in order, one at a time', async () => {
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

it('a notice that fails is dropped after its last attempt, and the next one is sent', async () => {
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

it('the oldest notice is dropped and logged when more than 100 wait', async () => {
  const { outbox, lines } = outboxTo(
    (_, signal) => new Promise((_, no) => signal.addEventListener('abort', no)),
  );
  {
    await using _ = outbox;
    for (let i = 0; i < 103; i += 1) outbox.put(pauseOf(String(i)));
    expect(lines.filter(({ msg }) => String(msg).includes('the oldest is dropped'))).toHaveLength(
      2,
    );
  }
});

it('disposing sends a waiting notice one last time and ends', async () => {
  let tries = 0;
  const { outbox, lines } = outboxTo(
    async () => {
      tries += 1;
      throw new Error('never');
    },
    { attempts: 2, initial: 3_600_000, max: 3_600_000 },
  );
  {
    await using _ = outbox;
    outbox.put(pauseOf('x'));
    await until('the first try', () => tries === 1);
  }
  expect(tries).toBe(2);
  expect(lines.at(-1)).toMatchObject({ msg: 'notice could not be sent', reason: 'never' });
});

it('by default a failed notice waits 1 s before its second attempt, then twice as long each time', async () => {
  const sleeps: number[] = [];
  const clock = { ...systemClock, sleep: async (ms: number) => void sleeps.push(ms) };
  const { log, lines } = capturedLog();
  const send = () => Promise.reject(new Error('away'));
  await using outbox = openOutbox({ receiver: 'test', send, clock, log, now: () => 7 });
  outbox.put(pauseOf('x'));
  await until('the last attempt', () => lines.some(({ level }) => level === 'error'));
  expect(sleeps.map((ms) => ms / 1000)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256]);
});

it('without a retry setting the waits double from one second to five minutes over ten attempts', async () => {
  const waits: number[] = [];
  const clock = { ...systemClock, sleep: async (ms: number) => void waits.push(ms) };
  const { log } = capturedLog();
  let attempts = 0;
  const send = async () => {
    attempts += 1;
    throw new Error('not now');
  };
  const outbox = openOutbox({ receiver: 'test', send, clock, log, now: () => 7 });
  outbox.put(pauseOf('bad'));
  await until('the last attempt', () => attempts === 10);
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256].map((seconds) => seconds * 1_000));
  await outbox[Symbol.asyncDispose]();
});

it('a receiver that does not accept its notices says so until it accepts one, without the path of an address', async () => {
  let isAway = true;
  const { outbox } = outboxTo(
    async () => {
      if (isAway)
        throw new Error(
          `POST https://me:pw@hooks.example.com/T0/s3cret?key=s3cret failed\n${'x'.repeat(500)}`,
        );
    },
    { attempts: 2, initial: 50, max: 50 },
  );
  await using _ = outbox;
  expect(outbox.trouble()).toBeUndefined();
  outbox.put(pauseOf('1'));
  outbox.put(pauseOf('2'));
  await until('the first is lost', () => outbox.trouble()?.lost === 1);
  expect(outbox.trouble()).toMatchObject({ receiver: 'test', waiting: 1, lost: 1, at: 7 });
  const error = outbox.trouble()?.error;
  expect(error).toMatch(/^POST https:\/\/hooks\.example\.com failed x+…$/);
  expect(error).toHaveLength(200);
  isAway = false;
  await until('the second is accepted', () => outbox.trouble() === undefined);
  isAway = true;
  outbox.put(pauseOf('3'));
  await until('the third is refused', () => outbox.trouble() !== undefined);
  expect(outbox.trouble()).toMatchObject({ waiting: 1, lost: 0 });
});
