import { expect, it } from 'vitest';
import type { Known } from '../../src/ledger/entry.ts';
import { leftOutTexts, watchLeftOut } from '../../src/report/left-out.ts';

const ACCEPTED: Known = {
  kind: 'accepted',
  compact: { number: '', digest: '', attempts: 1, at: 0, batchNo: 1 },
};
const open = (state: string) => ({ kind: 'open', entry: { state } }) as Known;

const ledgerOf = (known: (number: string) => Known) => ({
  lookup: (numbers: readonly string[]) => Promise.resolve(numbers.map(known)),
});

const leftOut = (number: string, line: number) => ({ number, line });

it('orders that are left out count as sent when they are accepted, in progress or in doubt', async () => {
  const states = [
    'queued',
    'sending',
    'retry',
    'unknown',
    'inDoubt',
    'refused',
    'failed',
    'conflict',
  ];
  const watch = watchLeftOut(ledgerOf((number) => (number === 'PO-1' ? ACCEPTED : open(number))));
  for (const [at, number] of ['PO-1', ...states, '', 'PO-1'].entries())
    watch.add(leftOut(number, at + 2));
  const found = await watch.sent();
  expect(found.map((one) => [one.purchaseOrderNumber, one.line, one.state])).toEqual([
    ['PO-1', 2, 'accepted'],
    ...states.slice(0, 5).map((state, at) => [state, at + 3, 'inProgress']),
  ]);
  const [text] = leftOutTexts(watch.reported(found.slice(0, 2)) ?? { orders: 0, first: [] });
  expect(text).toBe(
    '2 orders that the mapping leaves out were accepted earlier or in progress: PO-1 (line 2), queued (line 3, in progress). po-sync did not cancel them: inform the supplier if they are not wanted.',
  );
});

it('a text names 20 orders, the report has 1,000, and more than 100,000 left out are not looked up', async () => {
  const watch = watchLeftOut(ledgerOf(() => ACCEPTED));
  for (let at = 0; at <= 100_000; at += 1) watch.add(leftOut(`PO-${at}`, at + 2));
  const reported = watch.reported(await watch.sent());
  expect(reported).toMatchObject({ orders: 100_000, incomplete: true });
  expect(reported?.first).toHaveLength(1_000);
  const [text, rest] = leftOutTexts(reported ?? { orders: 0, first: [] });
  expect(text?.match(/PO-/g)).toHaveLength(20);
  expect(text).toContain('PO-19 (line 21) and 99,980 more. ');
  expect(rest).toContain('more than 100,000 orders');
});

it('nothing is reported of orders that were never sent', async () => {
  const watch = watchLeftOut(ledgerOf(() => ({ kind: 'nothing' })));
  watch.add(leftOut('PO-1', 2));
  expect(watch.reported(await watch.sent())).toBeUndefined();
});
