import { afterEach, beforeEach, expect, it } from 'vitest';
import { deliveryPaused, type Notice } from '../../src/notify/notice.ts';
import { openOutbox } from '../../src/notify/outbox.ts';
import { capturedLog } from '../support/captured-log.ts';
import { openTestRedis } from '../support/open-redis.ts';
import { answered } from '../support/pause.ts';
import { until } from '../support/until.ts';

const pauseOf = (reason: string): Notice =>
  deliveryPaused({ environment: 'staging', at: 0 }, { ...answered('api-down', reason), since: 0 });

let store: Awaited<ReturnType<typeof openTestRedis>>;

beforeEach(async () => {
  store = await openTestRedis();
});
afterEach(() => store[Symbol.asyncDispose]());

type Send = (notice: Notice, signal: AbortSignal) => Promise<void>;

function outboxTo(send: Send, retry = { attempts: 3, initial: 1 }) {
  const { log, lines } = capturedLog();
  const way = { receiver: 'test', identity: 'test', send };
  const troubles: Error[] = [];
  const onTrouble = (error: Error) => void troubles.push(error);
  return {
    lines,
    troubles,
    outbox: openOutbox({ way, store: { ...store, plain: store.redis }, log, onTrouble, retry }),
  };
}

it('notices are sent in order, one at a time, each once however many daemons keep it', async () => {
  const sent: (string | undefined)[] = [];
  let atOnce = 0;
  const { outbox, troubles } = outboxTo(async ({ reason }) => {
    atOnce += 1;
    expect(atOnce).toBe(1);
    sent.push(reason);
    atOnce -= 1;
  });
  await using _ = outbox;
  for (const reason of ['1', '1', '2', '3', '3']) await outbox.put(reason, pauseOf(reason));
  await until('all sent', () => sent.length === 3);
  await outbox.put('2', pauseOf('2'));
  await outbox.put('4', pauseOf('4'));
  await until('the last sent', () => sent.length === 4);
  expect(sent).toEqual(['1', '2', '3', '4']);
  expect(troubles).toEqual([]);
});

it('a notice that fails is tried after waits and dropped after its last attempt, and the next one is sent', async () => {
  const tries: (string | undefined)[] = [];
  const times: number[] = [];
  const failing: Send = async ({ reason }) => {
    tries.push(reason);
    times.push(performance.now());
    if (reason === 'bad') throw new Error('not now');
  };
  const { outbox, lines } = outboxTo(failing, { attempts: 3, initial: 200 });
  await using _ = outbox;
  await outbox.put('bad', pauseOf('bad'));
  await outbox.put('good', pauseOf('good'));
  await until('the second is sent', () => tries.includes('good'));
  expect(tries).toEqual(['bad', 'bad', 'bad', 'good']);
  expect((times[2] ?? 0) - (times[1] ?? 0)).toBeGreaterThan(350);
  expect(lines.find(({ level }) => level === 'error')).toMatchObject({
    msg: 'notice lost',
    receiver: 'test',
    attempt: 3,
    reason: 'not now',
  });
});

it('what a process that ended did not send is sent by the next one', async () => {
  const never: Send = (_, signal) =>
    new Promise((_, no) => signal.addEventListener('abort', () => no(new Error('stopped'))));
  {
    const { outbox } = outboxTo(never);
    await using _ = outbox;
    await outbox.put('x', pauseOf('x'));
    await outbox.put('y', pauseOf('y'));
  }
  const sent: (string | undefined)[] = [];
  const { outbox } = outboxTo(async ({ reason }) => void sent.push(reason));
  await using _ = outbox;
  await until('both are sent', () => sent.length === 2);
  expect(sent).toEqual(['x', 'y']);
});

it('the log names why a receiver does not accept a notice, without the path of an address', async () => {
  const { outbox, lines } = outboxTo(
    async () => {
      throw new Error(
        `POST https://me:pw@hooks.example.com/T0/s3cret?key=s3cret failed\n${'x'.repeat(500)}`,
      );
    },
    { attempts: 1, initial: 1 },
  );
  await using _ = outbox;
  await outbox.put('1', pauseOf('1'));
  const { reason } = await until('it is lost', () =>
    lines.find(({ event }) => event === 'notice-lost'),
  );
  expect(reason).toMatch(/^POST https:\/\/hooks\.example\.com failed x+…$/);
  expect(reason).toHaveLength(200);
});
