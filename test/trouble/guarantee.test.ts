import { expect, it } from 'vitest';
import type { Guarantee } from '../../src/reconcile/guarantee.ts';
import { listed, type OddApi, openOddApi, type StoredOrder } from '../support/odd-api.ts';
import { until } from '../support/until.ts';
import { csv, openTroublePlace, type TroublePlace } from './trouble-place.ts';

const PACE =
  'settle: 1s, timeout: 5s, backoff: { initial: 100ms, max: 1s }, probe: { initial: 250ms, max: 2s }';
const LAG = 2_500;

const listsOf = ({ calls }: OddApi) => calls.filter(({ endpoint }) => endpoint === 'list');

async function measured(place: TroublePlace, assumption: string): Promise<Guarantee | undefined> {
  const { guarantee } = (await place.status()) as unknown as { guarantee: Guarantee[] };
  return guarantee.find((one) => one.assumption === assumption);
}

it.concurrent('a list that lags is measured, status and doctor say so, and doctor proposes a longer settle', async () => {
  await using api = await openOddApi(({ endpoint }, { calls, stored }) => {
    if (endpoint !== 'list') return undefined;
    const isShown = (number: string) =>
      calls.some(({ order, at }) => order === number && performance.now() - at >= LAG);
    return { body: listed(stored.filter((one) => isShown(one.purchaseOrderNumber))) };
  });
  await using place = await openTroublePlace(api, { pace: `${PACE}, readList: 10ms` });
  await place.drop('first.csv', csv(['PO-0']));
  await place.settled(['PO-0']);
  const begun = performance.now();
  for (let i = 1; performance.now() - begun < 3 * LAG; i += 1) {
    const before = listsOf(api).length;
    await place.drop(`${i}.csv`, csv([`PO-${i}`]));
    await until('a list for this file', () => listsOf(api).length > before);
  }
  const reads = listsOf(api).map(({ at }) => at);
  const longest = Math.max(...reads.slice(1).map((at, i) => at - (reads[i] ?? 0)));
  const found = await until('orders that a list showed', async () => {
    const one = await measured(place, 'A3');
    return typeof one?.propose === 'string' && one;
  });
  expect(Math.abs(Number(found.measured) - LAG)).toBeLessThanOrEqual(Math.max(0.1 * LAG, longest));
  expect(found).toMatchObject({ holds: false, propose: expect.any(String) });
  expect((await place.run('status')).out).toContain(
    `(A3). Set delivery.settle to ${found.propose}.`,
  );
  expect((await place.run('doctor')).out).toMatch(/^warn +guarantee A3 +a list lacked an order /m);
});

it.concurrent('a call that the API stores later than a settle after it timed out is measured', async () => {
  let late: { order: StoredOrder; at: number } | undefined;
  await using api = await openOddApi(({ endpoint, order }, { stored }) => {
    if (endpoint === 'create' && order?.purchaseOrderNumber === 'LATE-1') {
      late = { order, at: performance.now() };
      return { drop: true, store: false };
    }
    // The first list after a settle lacks it, the next one shows it.
    if (endpoint === 'list' && late && performance.now() - late.at >= 1_000) {
      const body = listed([...stored]);
      stored.push(late.order);
      late = undefined;
      return { body };
    }
    return undefined;
  });
  await using place = await openTroublePlace(api, { pace: PACE });
  await place.drop('first.csv', csv(['PO-1']));
  await place.settled(['PO-1']);
  await place.drop('late.csv', csv(['LATE-1']));
  expect(await place.settled(['LATE-1'])).toMatchObject({ 'LATE-1': 'accepted' });
  expect(await measured(place, 'A2')).toMatchObject({ holds: false, samples: 1 });
});
