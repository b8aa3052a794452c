import { expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { csvOf, openWorkplace, type Workplace } from '../support/workplace.ts';

// The short form of test/process: real processes, killed and stopped, with a private Redis.

const storedBy = (place: Workplace, count: number) =>
  until(`${count} orders`, () => place.stored().size >= count);

it('a daemon killed with kill -9 in the middle of a file and started again creates each order once, in one report', async () => {
  await using place = await openWorkplace({
    redis: 'private',
    faults: { faults: [{ kind: 'delay', by: '20ms' }] },
  });
  const first = place.spawn(['start']);
  await place.drop('orders.csv', csvOf(400));
  await storedBy(place, 30);
  first.child.kill('SIGKILL');
  await first.ended;
  const { out } = await place.run(['status']);
  expect(out).toMatch(
    /delivery +not paused\n +daemons +1 may have ended: \S+ for [^,]*, no heartbeat for/,
  );
  expect(out).toContain('a daemon; none sends a heartbeat');
  expect(place.stored().size).toBeLessThan(400);
  const second = place.spawn(['start']);
  await storedBy(place, 400);
  await until('the report', async () => (await place.reportsNow())[0]?.state === 'finished');
  expect(new Set(place.stored().values())).toEqual(new Set([1]));
  expect(await place.reportsNow()).toMatchObject([
    { open: 0, counts: { orders: 400, accepted: 400 } },
  ]);
  second.child.kill('SIGTERM');
  expect(await second.ended).toMatchObject({ code: 0 });
});

it('a daemon that gets SIGTERM finishes the calls in flight, hands the rest back and ends with 0', async () => {
  await using place = await openWorkplace({
    redis: 'private',
    faults: { faults: [{ kind: 'delay', by: '50ms' }] },
  });
  const first = place.spawn(['start']);
  await place.drop('orders.csv', csvOf(200));
  await storedBy(place, 5);
  first.child.kill('SIGTERM');
  expect(await first.ended).toMatchObject({ code: 0 });
  const received = place.events.filter(({ type }) => type === 'received').length;
  expect(received).toBeLessThan(200);
  expect(received).toBe([...place.stored().values()].reduce((sum, times) => sum + times, 0));
  expect(await place.spawn(['start', '--once']).ended).toMatchObject({ code: 0 });
  expect(place.stored().size).toBe(200);
  expect(new Set(place.stored().values())).toEqual(new Set([1]));
});
