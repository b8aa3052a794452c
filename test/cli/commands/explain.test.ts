import { expect, it } from 'vitest';
import { orderHistoryText } from '../../../src/cli/commands/explain.ts';
import { waitingSteps } from '../../../src/cli/commands/next-step.ts';
import { createPaint } from '../../../src/cli/terminal/print.ts';
import type { OpenOrder, OrderHistory } from '../../../src/operate/orders/explain-order.ts';

const AT = '2026-11-21T07:16:00Z';
const SETTING = {
  into: 'into the inbox',
  settle: 6_000,
  now: Date.parse(AT),
  reports: '/reports',
  start: 'po-sync start',
  paint: createPaint({ isTTY: false, env: {} }),
  columns: undefined,
};
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
  waitsFor: { for: 'person', reason: '' },
  followedBy: [],
};
const base = { order: 'PO-1', operatorActions: [], appearances: [] };

it('the last outcome names the last file only if there were several', () => {
  const file = {
    batch: 'b',
    source: 'inbox',
    file: 'orders.csv',
    startedAt: AT,
    result: {
      line: 2,
      purchaseOrderNumber: 'PO-1',
      outcome: 'cancelled',
      attempts: 0,
      at: AT,
      code: '',
      message: '',
    },
  } as const;
  expect(shown({ ...base, state: 'nothing', appearances: [file] })).toMatch(/^PO-1 {2}cancelled\n/);
  const both = [file, { ...file, batch: 'c' }];
  expect(shown({ ...base, state: 'nothing', appearances: both })).toMatch(
    /^PO-1 {2}cancelled in its last file\n/,
  );
});

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
    result: { ...result, at: '2026-11-21T07:16:05Z', message: 'X is invalid' },
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

it('a file that repeats an order which was refused before says that it was not sent again', () => {
  const result = {
    line: 2,
    purchaseOrderNumber: 'PO-1',
    outcome: 'refused',
    attempts: 1,
    at: '2026-11-21T07:16:05Z',
    code: '400',
    message: 'X is invalid',
  } as const;
  const deadLetter = {
    purchaseOrderNumber: 'PO-1',
    kind: 'refused',
    stage: 'delivery',
    code: '400',
    message: 'X is invalid',
    signature: '400:1',
    attempts: 1,
    firstAt: result.at,
    lastAt: result.at,
    location: { line: 2 },
  } as const;
  const first = { batch: 'b', source: 'erp', file: 'erp.csv', startedAt: AT, result, deadLetter };
  const again = { ...first, batch: 'c', startedAt: '2026-11-21T08:00:00Z' };
  expect(shown({ ...base, state: 'refused', appearances: [first, again] })).toContain(
    [
      '2026-11-21 07:16:05 UTC  refused after 1 attempt: X is invalid',
      '2026-11-21 08:00:00 UTC  in erp.csv (source erp), line 2, batch c',
      '2026-11-21 08:00:00 UTC  not sent: already refused after 1 attempt: X is invalid\n',
    ].join('\n  '),
  );
});

it('a dead letter that was settled twice names its second end once, where the file that brought it back shows it', () => {
  const [at, later] = ['2026-11-21T07:20:00Z', '2026-11-21T07:30:00Z'];
  const result = {
    line: 2,
    purchaseOrderNumber: 'PO-1',
    outcome: 'conflict',
    attempts: 0,
    at: AT,
  } as const;
  const deadLetter = {
    purchaseOrderNumber: 'PO-1',
    kind: 'conflict',
    stage: 'reconciliation',
    code: 'conflict',
    message: 'other content',
    signature: 'conflict',
    attempts: 0,
    firstAt: AT,
    lastAt: AT,
    location: { line: 2 },
  } as const;
  const file = {
    source: 'inbox',
    startedAt: AT,
    result: { ...result, code: 'conflict', message: 'other content' },
  };
  const discarded = { at: later, by: 'discarded', who: 'root' } as const;
  const closed = { at, by: 'fixed', batch: 'fix1', file: 'fix.csv', end: discarded } as const;
  const first = { ...file, batch: 'b', file: 'a.csv', deadLetter: { ...deadLetter, closed } };
  const fix = {
    ...file,
    batch: 'fix1',
    file: 'fix.csv',
    deadLetter: { ...deadLetter, closed: discarded },
  };
  const both = shown({ ...base, state: 'conflict', appearances: [first, fix] });
  expect(both).toMatch(/07:20:00 UTC {2}its dead letter of \S+ was closed: came back in fix1\b/);
  expect(both).toContain(
    '2026-11-21 07:30:00 UTC  its dead letter of fix.csv was closed: discarded by root\n',
  );
});

it('dead letters that a person discarded are named by their files', () => {
  const result = {
    line: 2,
    purchaseOrderNumber: 'PO-1',
    outcome: 'invalid',
    attempts: 0,
    at: AT,
  } as const;
  const letterOf = (file: string, at: string) => ({
    batch: file,
    source: 'erp',
    file,
    startedAt: AT,
    result: { ...result, code: 'empty', message: 'is empty' },
    deadLetter: {
      purchaseOrderNumber: 'PO-1',
      kind: 'invalid' as const,
      stage: 'validation' as const,
      code: 'empty',
      message: 'is empty',
      signature: 'empty',
      attempts: 0,
      firstAt: AT,
      lastAt: AT,
      location: { line: 2 },
      closed: { at, by: 'discarded' as const, who: 'root' },
    },
  });
  const [a, b] = [
    letterOf('a.json', '2026-11-21T07:20:00Z'),
    letterOf('b.json', '2026-11-21T07:20:00Z'),
  ];
  const both = shown({ ...base, state: 'nothing', appearances: [a, b] });
  for (const file of ['a.json', 'b.json'])
    expect(both).toContain(
      `2026-11-21 07:20:00 UTC  its dead letter of ${file} was closed: discarded by root\n`,
    );
});

it('both contents of a conflict are in the order of their articles', () => {
  const result = {
    line: 2,
    purchaseOrderNumber: 'PO-1',
    outcome: 'conflict',
    attempts: 0,
    at: AT,
    code: 'other-content',
  } as const;
  const order = (quantity: number, ...articles: string[]) => {
    const items = articles.map((articleCode) => ({ articleCode, quantity }));
    return { purchaseOrderNumber: 'PO-1', orderState: 'NEW' as const, items };
  };
  const deadLetter = {
    purchaseOrderNumber: 'PO-1',
    kind: 'conflict',
    stage: 'reconciliation',
    code: 'other-content',
    message: 'x',
    signature: 'x',
    attempts: 0,
    firstAt: AT,
    lastAt: AT,
    location: { line: 2 },
    payload: order(1, 'C', 'A', 'B'),
    known: order(2, 'B', 'C', 'A'),
  } as const;
  const file = {
    batch: 'b',
    source: 'inbox',
    file: 'a.csv',
    startedAt: AT,
    result: { ...result, message: 'x' },
    deadLetter,
  };
  const content = { status: 'ledger', items: deadLetter.payload.items, message: '' } as const;
  const text = shown({ ...base, state: 'conflict', content, appearances: [file] });
  expect(text).toMatch(/^ {2}1 × A\n {2}1 × B\n {2}1 × C$/m);
  expect(text).toContain('in this file:  1 × A, 1 × B, 1 × C');
  expect(text).toContain('already known: 2 × A, 2 × B, 2 × C');
});

it('an order with more attempts than are allowed says how many count', () => {
  const open: OpenOrder = {
    batch: 'b',
    takenAt: Date.parse(AT),
    line: 2,
    content: {
      purchaseOrderNumber: 'PO-1',
      orderState: 'NEW',
      items: [{ articleCode: 'A', quantity: 1 }],
    },
    attempts: 4,
    used: 2,
    history: [],
    waitsFor: { for: 'person', reason: '' },
    followedBy: [],
  };
  expect(shown({ ...base, state: 'failed', open })).toContain(
    '2 of 4 attempts count toward delivery.attempts. Not counted: attempts that say nothing about the order, such as HTTP 429 or a refused connection, and attempts before a retry.\n',
  );
  expect(shown({ ...base, state: 'failed', open })).toContain(
    'If the API accepts other orders, the order itself may be the cause:',
  );
  expect(shown({ ...base, state: 'failed', open: { ...open, used: 4 } })).not.toContain(
    'delivery.attempts',
  );
  expect(shown({ ...base, state: 'refused', open: { ...open, used: 0 } })).not.toContain(
    'delivery.attempts',
  );
});

it('an order of a held batch names the same steps as its batch', () => {
  const open: OpenOrder = {
    ...OPEN,
    heldBecause: 'refused alike',
    waitsFor: { for: 'release', reason: 'refused alike' },
  };
  const text = shown({ ...base, state: 'queued', open });
  expect(text).toContain(waitingSteps('b').join('\n'));
});

it('an order that waits for a daemon names the command that starts one', () => {
  const open: OpenOrder = { ...OPEN, waitsFor: { for: 'daemon', reason: 'no daemon is running' } };
  const history: OrderHistory = { ...base, state: 'queued', open };
  expect(orderHistoryText(history, { ...SETTING, start: 'npm start' })).toContain(
    '\nRun npm start.\n',
  );
});

it('an order in doubt says how long the list may take, as configured', () => {
  const open: OpenOrder = { ...OPEN, waitsFor: { for: 'list', reason: '' } };
  expect(shown({ ...base, state: 'unknown', open })).toContain(
    'within 1 min (ten times delivery.settle)',
  );
});

it('an order that the list shows more than once was created twice', () => {
  const accepted = { at: Date.parse(AT), attempts: 2 };
  const text = shown({ ...base, state: 'accepted', accepted, timesListed: 2 });
  expect(text).toContain("Created twice: the API's last list shows it 2 times.");
  expect(shown({ ...base, state: 'accepted', accepted })).not.toContain('Created twice');
});

it('an order that was accepted on a later attempt names that one, and does not read as ordered twice', () => {
  const of = (outcome: 'refused' | 'accepted', attempts: number, batch: string, at: string) => ({
    batch,
    source: 'inbox',
    file: `${batch}.csv`,
    startedAt: at,
    result: { line: 2, purchaseOrderNumber: 'PO-1', outcome, attempts, at, code: '', message: '' },
  });
  const refused = of('refused', 1, 'monday', AT);
  const later = '2026-11-21T09:16:05.000Z';
  const accepted = { at: Date.parse(later), attempts: 2, batch: 'tuesday' };
  const history: OrderHistory = { ...base, state: 'accepted', accepted, appearances: [refused] };
  const last = of('accepted', 2, 'tuesday', later);
  const lines = (one: OrderHistory) => shown(one).match(/accepted [^\n]*(?:attempt|API)[^\n]*/g);
  expect(lines({ ...history, appearances: [refused, last] })).toEqual([
    'accepted on attempt 2; the first was refused',
  ]);
  expect(lines(history)).toEqual([
    'accepted by the API on attempt 2; the first was refused, batch tuesday',
  ]);
  // The same refusal, in a file that repeats the order.
  const again = { ...refused, batch: 'again', file: 'again.csv' };
  const third = {
    ...history,
    accepted: { ...accepted, attempts: 3 },
    appearances: [refused, again],
  };
  expect(lines(third)).toEqual(['accepted by the API on attempt 3, batch tuesday']);
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
        message,
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

it('a cancellation is before the outcome that it had, also where that was counted some milliseconds earlier', () => {
  const at = (milliseconds: number) => `2026-11-21T07:16:05.${milliseconds}Z`;
  const result = {
    line: 2,
    purchaseOrderNumber: 'PO-1',
    attempts: 0,
    code: 'cancelled',
    message: 'withdrawn',
  };
  const file = { batch: 'b', source: 'inbox', file: 'a.csv', startedAt: at(100) };
  for (const ended of [200, 300, 400]) {
    const text = shown({
      ...base,
      state: 'nothing',
      operatorActions: [{ at: Date.parse(at(300)), what: 'cancelled', who: 'root' }],
      appearances: [{ ...file, result: { ...result, outcome: 'cancelled', at: at(ended) } }],
    });
    expect(text).toMatch(/in a\.csv[^\n]*\n[^\n]*cancelled by root\n[^\n]*cancelled: withdrawn\n/);
  }
});

it('a correction is before the file that it became, also where that was claimed some milliseconds earlier', () => {
  const at = (milliseconds: number) => `2026-11-21T07:16:05.${milliseconds}Z`;
  const result = {
    line: 2,
    purchaseOrderNumber: 'PO-1',
    attempts: 1,
    code: '',
    message: '',
    at: at(900),
  };
  const file = {
    batch: 'b',
    source: 'inbox',
    file: 'a.line-2.fix.csv',
    by: 'Carla',
    startedAt: at(300),
  };
  for (const noted of [200, 300, 400]) {
    for (const what of ['corrected', 'sent again unchanged'] as const) {
      const text = shown({
        ...base,
        state: 'accepted',
        operatorActions: [{ at: Date.parse(at(noted)), what, who: 'Carla' }],
        appearances: [{ ...file, result: { ...result, outcome: 'accepted' } }],
      });
      expect(text).toMatch(
        new RegExp(`${what} by Carla\\n[^\\n]*in a\\.line-2\\.fix\\.csv[^\\n]*\\n[^\\n]*accepted`),
      );
    }
  }
});
