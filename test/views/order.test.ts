import { expect, it } from 'vitest';
import { createPaint } from '../../src/cli/terminal/print.ts';
import { viewText } from '../../src/cli/terminal/view-text.ts';
import type { OpenOrder, OrderHistory } from '../../src/operate/orders/explain-order.ts';
import { sentence } from '../../src/order/sentence.ts';
import { waitingSteps } from '../../src/views/next-step.ts';
import { orderView } from '../../src/views/order.ts';
import { refusals } from '../support/refusals.ts';

const AT = '2026-11-21T07:16:00Z';
const SETTING = {
  into: 'into the inbox',
  now: Date.parse(AT),
  reports: '/reports',
  start: 'po-sync start',
  paint: createPaint({ isTTY: false, env: {} }),
  columns: undefined,
};
const orderHistoryText = (
  history: OrderHistory,
  place: Omit<typeof SETTING, 'columns'> & { columns: number | undefined },
) => viewText(orderView(history, place), place);
const shown = (history: OrderHistory) => orderHistoryText(history, SETTING);
const OPEN: OpenOrder = {
  batch: 'b',
  takenAt: Date.parse(AT),
  line: 2,
  content: {
    purchaseOrderNumber: 'PO-1',
    orderState: 'NEW',
    items: [{ articleCode: 'A', quantity: 1 }],
  },
  attempts: 0,
  used: 0,
  history: [],
  waitsFor: { code: 'person', facts: {} },
  followedBy: [],
};
const base = { order: 'PO-1', operatorActions: [], appearances: [] };

it('an order that was sent again and refused again has the end of both rounds', () => {
  const result = {
    line: 2,
    purchaseOrderNumber: 'PO-1',
    outcome: 'refused',
    attempts: 1,
    code: '400',
  } as const;
  const first = {
    batch: 'b',
    source: 'erp',
    file: 'erp.csv',
    startedAt: AT,
    result: { ...result, at: '2026-11-21T07:16:05Z', message: sentence('X is invalid') },
  };
  const history = [
    {
      attempt: 1,
      at: Date.parse('2026-11-21T07:16:05Z'),
      code: '400',
      message: 'X is invalid',
      httpStatus: 400,
    },
    {
      attempt: 2,
      at: Date.parse('2026-11-21T07:20:05Z'),
      code: '400',
      message: 'Y is invalid',
      httpStatus: 400,
    },
  ];
  const retried = { at: Date.parse('2026-11-21T07:20:00Z'), who: 'root', what: 'retried' } as const;
  const open = { ...OPEN, attempts: 2, history };
  const text = [
    '2026-11-21 07:16:05 UTC  attempt 1: X is invalid (HTTP 400)',
    '2026-11-21 07:16:05 UTC  refused after 1 attempt: X is invalid',
    '2026-11-21 07:20:00 UTC  retried by root',
    '2026-11-21 07:20:05 UTC  attempt 2: Y is invalid (HTTP 400)',
    '2026-11-21 07:20:05 UTC  refused after 2 attempts: Y is invalid\n',
  ].join('\n  ');
  const again = { ...base, operatorActions: [retried], appearances: [first], open };
  expect(shown({ ...again, state: 'refused' })).toContain(text);
  expect(shown({ ...again, state: 'queued' })).not.toContain('after 2 attempts');
});

it('an order of a held batch names the same steps as its batch', () => {
  const open: OpenOrder = {
    ...OPEN,
    isHeld: true,
    waitsFor: { code: 'release', facts: refusals('refused alike') },
  };
  const text = shown({ ...base, state: 'queued', open });
  expect(text).toContain(
    waitingSteps('b')
      .map((step) => (typeof step === 'string' ? step : `  ${step.command}`))
      .join('\n'),
  );
});

it('an order that waits for a daemon names the command that starts one', () => {
  const open: OpenOrder = { ...OPEN, waitsFor: { code: 'daemon', facts: { lacks: 'all' } } };
  const history: OrderHistory = { ...base, state: 'queued', open };
  expect(orderHistoryText(history, { ...SETTING, start: 'npm start' })).toContain(
    '\nRun npm start.\n',
  );
});

it('an order that the list shows more than once was created twice', () => {
  const accepted = { at: Date.parse(AT), attempts: 2 };
  const text = shown({ ...base, state: 'accepted', accepted, timesListed: 2 });
  expect(text).toContain("Created twice: the API's last list shows it 2 times.");
  expect(shown({ ...base, state: 'accepted', accepted })).not.toContain('Created twice');
});

it.each([80, 120])(
  'a history fits into %i columns, except for words and commands that are longer',
  (columns) => {
    const batch = '20261121T071600Z-inbox-orders-3f2a91c0';
    const message =
      'articleCode ART-7 is not in the catalogue of this customer: ask the owner of the catalogue, '.repeat(
        3,
      );
    const refused: OrderHistory['appearances'][number] = {
      batch,
      source: 'inbox',
      file: 'orders.csv',
      startedAt: AT,
      result: {
        line: 2,
        purchaseOrderNumber: 'PO-1',
        outcome: 'refused',
        attempts: 1,
        at: AT,
        code: '400',
        message: sentence(message),
      },
    };
    const history: OrderHistory = { ...base, state: 'refused', appearances: [refused] };
    const text = orderHistoryText(history, { ...SETTING, columns });
    expect(Math.max(...text.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(columns);
    expect(text).toMatch(/refused after 1 attempt: articleCode.*\n {27}\S/);
    expect(text).toContain('\n  po-sync dead-letters retry --order PO-1\n');
    const asWords = (shownText: string) => shownText.split(/\s+/).join(' ');
    expect(asWords(text)).toBe(asWords(shown(history)));
  },
);
