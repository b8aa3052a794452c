import { expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { csvOf, openWorkplace } from '../support/workplace.ts';

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
