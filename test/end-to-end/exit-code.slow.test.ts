import { expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { csvOf, openWorkplace } from '../support/workplace.ts';

const HEAD = 'purchaseOrderNumber,orderState,articleCode,quantity';

it('status --exit-code ends with 2 while something needs a person, and with 0 otherwise', async () => {
  await using place = await openWorkplace();
  const code = async () => (await place.run(['status', '--exit-code'])).code;
  expect(await code()).toBe(0);

  // A file waits, and no daemon runs.
  await place.drop('orders.csv', csvOf(3));
  expect(await code()).toBe(2);
  await place.run(['start', '--once']);
  expect(await code()).toBe(0);

  // Only a person ends the pause.
  await place.run(['pause']);
  expect(await code()).toBe(2);
  await place.run(['resume']);
  expect(await code()).toBe(0);

  await place.drop('wrong.csv', `${HEAD}\nPO-9,NEW,A,none\n`);
  await place.run(['start', '--once']);
  expect(await code()).toBe(2);
  expect((await place.run(['status'])).code).toBe(0);
  expect((await place.run(['--json', 'status', '--exit-code'])).code).toBe(2);
  await place.run(['dead-letters', 'discard', '--order', 'PO-9', '--yes']);
  expect(await code()).toBe(0);

  await place.drop('broken.csv', `${HEAD}\nPO-9,NEW,"A,1\n`);
  await place.run(['start', '--once']);
  expect(await code()).toBe(2);
});

it('status --exit-code ends with 0 during an outage of the API, and with 2 when the credentials are refused', async () => {
  await using place = await openWorkplace({
    sandbox: { record: true },
    faults: { faults: [{ kind: 'answer', on: 'create', status: 503 }] },
  });
  const daemon = place.start(['start']);
  await place.drop('orders.csv', csvOf(3));
  await until('the pause', async () =>
    (await place.run(['status'])).out.includes('delivery      paused'),
  );
  expect((await place.run(['status', '--exit-code'])).code).toBe(0);
  await place.setFaults([{ kind: 'answer', on: 'create', status: 403 }]);
  await until('the refusal', async () => {
    const { code, out } = await place.run(['status', '--exit-code']);
    return code === 2 && out.includes('(http-403)');
  });
  daemon.child.kill('SIGTERM');
  await daemon.ended;
});
