import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import {
  accountOf,
  allReported,
  countOf,
  type DroppedFile,
  dropOrders,
} from '../support/account.ts';
import { until } from '../support/until.ts';
import { openWorkplace } from '../support/workplace.ts';

const NOBODY = { PO_SYNC_STAGING_CLIENT_ID: '', PO_SYNC_STAGING_CLIENT_SECRET: '' };

it('an intake daemon without credentials and delivery daemons without the inbox share the work; one is killed', async () => {
  await using place = await openWorkplace({
    faults: { faults: [{ kind: 'delay', by: '10ms..30ms' }] },
  });
  // The delivery daemons see neither inbox nor reports.
  const elsewhere = path.join(place.folder, 'delivery.yaml');
  const text = await readFile(place.config, 'utf8');
  await writeFile(
    elsewhere,
    text.replace('path: inbox', 'path: no-inbox').replace('path: reports', 'path: no-reports'),
  );
  const intake = place.spawn(['start', '--role', 'intake'], NOBODY);
  const deliveries = [1, 2].map(() =>
    place.spawn(['--config', elsewhere, 'start', '--role', 'delivery']),
  );
  const [first, second] = deliveries;
  for (const one of [intake, ...deliveries]) {
    await until('a daemon is ready', () => one.out().includes('daemon ready'));
  }
  expect(countOf(place.events, 'received')).toBe(0);
  const dropped: DroppedFile[] = [];
  await dropOrders(place, dropped, 500);
  await until('a start', () => countOf(place.events, 'stored') > 100);
  const { out } = await place.run(['status', '--json']);
  const roles = JSON.parse(out).daemons.map(({ role }: { role?: string }) => role);
  expect(roles.toSorted()).toEqual(['delivery', 'delivery', 'intake']);
  first?.child.kill('SIGKILL');
  await allReported(place, dropped);
  expect(await accountOf(place, dropped)).toMatchObject({
    lost: 0,
    double: 0,
    givenUp: 0,
    untidy: [],
  });
  second?.child.kill('SIGTERM');
  expect(await second?.ended).toMatchObject({ code: 0 });
  // Nobody delivers now: intake continues, and status says what the orders wait for.
  await dropOrders(place, dropped, 5);
  await until('the orders wait for a daemon', async () => {
    const { waits } = await place.json('status');
    return waits.some(
      (wait: { code: string; orders: number }) => wait.code === 'daemon' && wait.orders === 5,
    );
  });
  expect(await place.run(['status', '--exit-code'])).toMatchObject({ code: 2 });
  expect(countOf(place.events, 'stored')).toBe(500);
});

it('--once with one role is refused', async () => {
  await using place = await openWorkplace();
  const { code, err } = await place.run(['start', '--once', '--role', 'intake']);
  expect(code).toBe(1);
  expect(err).toContain('--once does everything');
});
