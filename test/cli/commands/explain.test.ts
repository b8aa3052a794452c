import { expect, it } from 'vitest';
import { orderHistoryText } from '../../../src/cli/commands/explain.ts';
import { createPaint } from '../../../src/cli/terminal/print.ts';
import type { OpenOrder, OrderHistory } from '../../../src/operate/orders/explain-order.ts';

const AT = '2026-11-21T07:16:00Z';
const SETTING = { now: Date.parse(AT), reports: '/reports', paint: createPaint({ isTTY: false, env: {} }) };
const shown = (history: OrderHistory) => orderHistoryText(history, SETTING);
const base = { order: 'PO-1', operatorActions: [], appearances: [] };

it('the last outcome names the last file only if there were several', () => {
  const file = {
    batch: 'b',
    source: 'inbox',
    file: 'orders.csv',
    startedAt: AT,
    result: { line: 2, purchaseOrderNumber: 'PO-1', outcome: 'cancelled', attempts: 0, at: AT, code: '', message: '' },
  } as const;
  expect(shown({ ...base, state: 'nothing', appearances: [file] })).toMatch(/^PO-1 {2}cancelled\n/);
  const both = [file, { ...file, batch: 'c' }];
  expect(shown({ ...base, state: 'nothing', appearances: both })).toMatch(/^PO-1 {2}cancelled in its last file\n/);
});

it('an order with more attempts than are allowed says how many count', () => {
  const open: OpenOrder = {
    batch: 'b',
    takenAt: Date.parse(AT),
    line: 2,
    content: { purchaseOrderNumber: 'PO-1', orderState: 'NEW', items: [{ articleCode: 'A', quantity: 1 }] },
    attempts: 4,
    used: 2,
    history: [],
    waitsFor: { for: 'person', reason: '' },
    followedBy: [],
  };
  expect(shown({ ...base, state: 'failed', open })).toContain(
    '2 of 4 attempts count toward delivery.attempts. Not counted:',
  );
  expect(shown({ ...base, state: 'failed', open: { ...open, used: 4 } })).not.toContain('delivery.attempts');
  expect(shown({ ...base, state: 'refused', open: { ...open, used: 0 } })).not.toContain('delivery.attempts');
});
