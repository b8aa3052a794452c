import { expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { csvOf, openWorkplace, type Workplace } from '../support/workplace.ts';

// The short form of test/process: real processes, killed and stopped, with a private Redis.

const storedBy = (place: Workplace, count: number) =>
  until(`${count} orders`, () => place.stored().size >= count);

it('a daemon killed with kill -9, another that gets SIGTERM and a run that ends create each order of a file once, in one report', async () => {
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
  const killed = place.stored().size;
  const second = place.spawn(['start']);
  await storedBy(place, killed + 50);
  second.child.kill('SIGTERM');
  expect(await second.ended).toMatchObject({ code: 0 });
  // The calls in flight were finished.
  const times = [...place.stored().values()].reduce((sum, one) => sum + one, 0);
  expect(place.events.filter(({ type }) => type === 'received')).toHaveLength(times);
  expect(times).toBeLessThan(400);
  expect(await place.spawn(['start', '--once']).ended).toMatchObject({ code: 0 });
  expect([...place.stored().values()]).toEqual(Array.from({ length: 400 }, () => 1));
  expect(await place.reportsNow()).toMatchObject([
    { open: 0, state: 'finished', counts: { orders: 400, accepted: 400 } },
  ]);
});
