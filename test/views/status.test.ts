import { describe, expect, it } from 'vitest';
import { linesThatFit } from '../../src/cli/terminal/live-view.ts';
import { createPaint, type Format } from '../../src/cli/terminal/print.ts';
import { blockText, viewText } from '../../src/cli/terminal/view-text.ts';
import { textWidth } from '../../src/core/format.ts';
import type { Batch } from '../../src/ledger/batches/batches.ts';
import type { PauseCause } from '../../src/ledger/pause-cause.ts';
import { batchJson } from '../../src/operate/batches/list-batches.ts';
import { type Status, statusJson } from '../../src/operate/delivery/read-status.ts';
import { noOutcomes } from '../../src/order/outcome.ts';
import { judgeGuarantee } from '../../src/reconcile/guarantee.ts';
import { batchTable as batchBlock, batchView } from '../../src/views/batch.ts';
import { needsYou, statusView } from '../../src/views/status.ts';
import { answered, byOperator, ROLLED } from '../support/pause.ts';
import { refusals } from '../support/refusals.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const BATCH: Batch = {
  batch: '20261121T115500Z-inbox-orders-3f2a91c0',
  no: 1,
  source: 'inbox',
  kind: 'inbox',
  name: 'orders\u001b[2J.csv',
  path: '/srv/inbox/processing/x/orders.csv',
  state: 'open',
  startedAt: NOW - 300_000,
  lastAt: NOW,
  total: 5000,
  cancelled: false,
  counts: { ...noOutcomes(), accepted: 1200 },
  open: 3,
};
const { total: _, ...UNREADABLE } = { ...BATCH, name: 'broken.csv', open: 0, counts: noOutcomes() };
const STATUS: Status = {
  environment: 'staging',
  baseUrl: 'https://api.staging.example.com/api/v1',
  redis: { private: true },
  now: NOW,
  daemons: [{ pid: 4711, version: '0.1.0', host: 'host-a', since: NOW - 7_200_000 }],
  sources: [
    { name: 'inbox', type: 'inbox', path: '/srv/po-sync/inbox', state: 'ok' },
    {
      name: 'erp',
      type: 'export',
      path: '/mnt/erp/orders.csv',
      state: 'unreachable',
      code: 'EACCES',
    },
  ],
  queue: { waitingJobs: 61, unsettledOrders: 1204, ordersInDoubt: 2, unreadOrders: 0 },
  waits: [
    {
      code: 'pause',
      facts: byOperator('anna'),
      orders: 1202,
      until: NOW + 5_000,
      oldest: { order: 'PO-1', batch: BATCH.batch, since: NOW - 300_000 },
    },
    { code: 'person', facts: {}, orders: 3, oldest: { batch: BATCH.batch, since: NOW - 300_000 } },
  ],
  deadLetters: 3,
  guarantee: [],
  batches: [{ batch: BATCH, standing: 'sending', report: '/reports/b' }],
  unreadable: [
    {
      batch: { ...UNREADABLE, state: 'done' },
      standing: 'unreadable',
      report: '/reports/u',
      error: {
        code: 'unreadable-quote',
        message: 'Line 2 opens a quote that is never closed.',
        remedy: 'Close the quote.',
      },
    },
  ],
  token: { present: true, expiresInMs: 2_467_000 },
  pauses: [
    { ...byOperator('anna\u202e'), since: NOW - 60_000, held: true },
    { ...ROLLED, since: NOW - 5_000, held: true },
    { ...answered('api-down', 'connect ECONNREFUSED'), since: NOW - 192_000, held: false },
  ],
};
const statusText = (status: Status, format: Format, start?: string) =>
  viewText(statusView(status, start), format);
const batchTable = (batches: Status['batches'], now: number, format: Format) =>
  blockText(batchBlock(batches, now), format);
const batchText = (view: Status['batches'][number], now: number, format: Format) =>
  viewText(batchView(view, now), format);
const needsPerson = (status: Status) => needsYou(status).length > 0;
const plain = createPaint({ isTTY: false, env: {} });

import { isAsDescribed } from '../support/described.ts';

describe('the status', () => {
  it('names the role that no daemon has, and needs a person while work waits for it', () => {
    const daemons = (role?: 'intake' | 'delivery') =>
      STATUS.daemons.map((one) => ({ ...one, ...(role && { role }) }));
    const idle = { ...STATUS, deadLetters: 0, unreadable: [], pauses: [] };
    const wait = {
      code: 'daemon',
      facts: { lacks: 'delivery' },
      orders: 4,
    } as const;
    const orders = { ...idle, waits: [wait] };
    const text = statusText(
      { ...orders, daemons: daemons('intake') },
      { paint: plain, columns: undefined },
    );
    expect(text).toMatch(
      /delivery +no daemon delivers; start one with po-sync start --role delivery, or with your /,
    );
    expect(text).toContain('a daemon that delivers; none is running');
    const killed = [
      ...daemons('intake'),
      ...daemons('delivery').map((one) => ({ ...one, silentMs: 500 })),
    ];
    expect(
      statusText({ ...orders, daemons: killed }, { paint: plain, columns: undefined }),
    ).toMatch(
      /delivery +no daemon that delivers sends a heartbeat; it may have ended\n +daemons +1 running, 1 may have ended: /,
    );
    expect(
      [undefined, 'delivery', 'intake'].map((role) =>
        needsPerson({ ...orders, daemons: daemons(role as never) }),
      ),
    ).toEqual([false, false, true]);
    const queue = { waitingJobs: 0, unsettledOrders: 0, ordersInDoubt: 0, unreadOrders: 0 };
    const files = {
      ...idle,
      queue,
      sources: STATUS.sources.map((one) => ({ ...one, waiting: 1 })),
    };
    expect(
      [undefined, 'delivery', 'intake'].map((role) =>
        needsPerson({ ...files, daemons: daemons(role as never) }),
      ),
    ).toEqual([false, true, false]);
    const done = { ...BATCH, counts: { ...noOutcomes(), accepted: 5000 } };
    const ended = {
      ...idle,
      queue,
      batches: [{ batch: done, standing: 'sending' as const, report: '/reports/x' }],
    };
    expect(
      [undefined, 'delivery', 'intake'].map((role) =>
        needsPerson({ ...ended, daemons: daemons(role as never) }),
      ),
    ).toEqual([false, true, false]);
    expect(
      statusText({ ...ended, daemons: daemons('delivery') }, { paint: plain, columns: undefined }),
    ).toContain(
      'none takes files, and 1 file in progress waits for one; run po-sync start --role intake\n',
    );
    const shown: unknown = JSON.parse(JSON.stringify(statusJson(orders)));
    isAsDescribed('status', shown);
    expect(shown).toMatchObject({ waits: [{ code: 'daemon', facts: { lacks: 'delivery' } }] });
  });

  it('needs a person while a pause waits for one, and not while it ends automatically', () => {
    const idle = { ...STATUS, deadLetters: 0, unreadable: [] };
    const needs = (pause: PauseCause) =>
      needsPerson({ ...idle, pauses: [{ ...pause, since: NOW, held: true }] });
    expect(needs({ code: 'list-unconfirmed', facts: { shown: 7 } })).toBe(true);
    expect(needs(byOperator('anna'))).toBe(true);
    expect(needs(answered('http-403', 'no'))).toBe(true);
    expect(needs(ROLLED)).toBe(false);
    expect(needs(answered('api-down', 'no'))).toBe(false);
  });

  it('names what a daemon cannot take, and what it does not read, as its schema has it', () => {
    const [source] = STATUS.sources;
    const ignored = { total: 1, entries: [{ name: 'half.csv.part', kind: 'other name' }] };
    const notTaken = [
      { source: 'inbox', file: 'a.csv', reason: 'No permission to read a.csv.', remedy: 'Set it.' },
    ];
    const status = { ...STATUS, notTaken, sources: source ? [{ ...source, ignored }] : [] };
    const text = statusText(status, { paint: plain, columns: undefined });
    expect(text).toContain('\n  a.csv of source inbox: No permission to read a.csv. Set it.\n');
    expect(text).toContain('\nNot read\n  inbox: half.csv.part (other name)\n');
    const shown: unknown = JSON.parse(JSON.stringify(statusJson(status)));
    isAsDescribed('status', shown);
    expect(shown).toMatchObject({ notTaken, sources: [{ ignored }] });
  });

  it('says for how long a source is silent, as its schema has it', () => {
    const since = NOW - 26 * 3_600_000;
    const sources = STATUS.sources.map((one) => ({
      ...one,
      silent: { since, expectEvery: 86_400_000 },
    }));
    const status = { ...STATUS, sources: sources.slice(0, 1) };
    expect(statusText(status, { paint: plain, columns: undefined })).toMatch(
      /\n {2}inbox: silent: no file for 1 d 2 h, expected every 1 d\.\n/,
    );
    const shown: unknown = JSON.parse(JSON.stringify(statusJson(status)));
    isAsDescribed('status', shown);
    const silent = { since: '2026-11-20T10:00:00.000Z', expectEveryMs: 86_400_000 };
    expect(shown).toMatchObject({ sources: [{ silent }] });
  });

  it('is readable without color', () => {
    expect(statusText(STATUS, { paint: plain, columns: undefined })).toBe(
      [
        'staging  https://api.staging.example.com/api/v1',
        '',
        'What needs you',
        '  3 orders need a person; run po-sync dead-letters list',
        '  broken.csv (batch 3f2a91c0) cannot be read: Line 2 opens a quote that is never closed. Close the quote.',
        '  A readable file of the same name closes an unreadable one, and so does: po-sync batches cancel BATCH',
        '  Delivery is paused by anna\\u202e, for 1 min (ends with po-sync resume).',
        '',
        'Orders that wait',
        '  orders  wait for              until   oldest',
        '   1,202  the end of the pause  in 5 s  PO-1, 5 min ago',
        '       3  a person              –       batch 3f2a91c0, 5 min ago',
        '',
        'Batches in progress',
        '  batch                                   file                 state                    done  accepted  open  taken',
        '  20261121T115500Z-inbox-orders-3f2a91c0  orders\\u001b[2J.csv  sending  █░░░░░░░ 1,200/5,000     1,200     3  5 min ago',
        '',
        'Now',
        '  delivery      paused by anna\\u202e, for 1 min (ends with po-sync resume)',
        "                paused for 5 s (ledger-rolled-back): Redis lost part of the ledger; a daemon that takes files reads the reports first, then the API's list is read (ends when the API's list has been read)",
        '                paused for 3 min 12 s (api-down): connect ECONNREFUSED (ends automatically)',
        '  daemons       1 running: host-a:4711 for 2 h (0.1.0)',
        '  token         valid for 41 min 7 s',
        "  queue         1,204 orders not settled, 2 being verified with the API's list; 61 jobs waiting",
        '',
        'Sources',
        '  source  type    state                 path                 last readable file',
        '  inbox   inbox   ok                    /srv/po-sync/inbox   –',
        '  erp     export  unreachable (EACCES)  /mnt/erp/orders.csv  –',
        '',
      ].join('\n'),
    );
  });

  it("says that the API's list cannot be read, for how long and why, as its schema has it", () => {
    const status = {
      ...STATUS,
      listFailure: { since: NOW - 95_000, says: 'no data for 30 s', answer: 'no-answer' },
    };
    expect(statusText(status, { paint: plain, columns: undefined })).toContain(
      "\n  API's list    could not be read for 1 min 35 s: no data for 30 s; orders in doubt wait for it\n",
    );
    const shown: unknown = JSON.parse(JSON.stringify(statusJson(status)));
    isAsDescribed('status', shown);
    expect(shown).toMatchObject({ listFailure: { since: '2026-11-21T11:58:25.000Z' } });
  });

  it('says how soon lists show orders, or which assumption fails, as its schema has it', () => {
    const samples = { lists: 2, respelled: 0, lag: { samples: 9, atLeast: 1_500, atMost: 2_100 } };
    const measures = { kind: undefined, twice: 0, overdue: { orders: 0, longest: 0 } };
    const status = (settle: number) => ({
      ...STATUS,
      deadLetters: 0,
      unreadable: [],
      pauses: [],
      guarantee: judgeGuarantee({ ...measures, seen: samples }, settle),
    });
    const text = (settle: number) =>
      statusText(status(settle), { paint: plain, columns: undefined });
    expect(text(60_000)).toContain('\n  guarantee     created orders are in the list within 2 s\n');
    expect(text(1_000)).toContain(
      '\n  guarantee     a list lacked an order 2 s after it was created (A3). Set delivery.settle to 5s.\n',
    );
    expect([needsPerson(status(60_000)), needsPerson(status(1_000))]).toEqual([false, true]);
    const shown: unknown = JSON.parse(JSON.stringify(statusJson(status(1_000))));
    isAsDescribed('status', shown);
    expect(shown).toMatchObject({
      guarantee: [{}, { assumption: 'A3', propose: '5s' }, {}, {}, {}],
    });
  });

  it.each([
    ['token-unavailable', 'none, and none can be requested now: it answers 503'],
    ['token-refused', 'none, and none can be requested now: it answers 503'],
    ['token-not-accepted', 'none that the API accepts: it answers 503'],
  ])('says during a pause for the token (%s) why none is stored', (code, text) => {
    const unusable = answered(code, 'it answers 503.');
    const status = { ...STATUS, token: { present: false, unusable } };
    expect(statusText(status, { paint: plain, columns: undefined })).toContain(
      `  token         ${text}\n`,
    );
  });

  it.each([100, 80, 70])('fits into %i columns', (columns) => {
    const text = statusText(STATUS, { paint: plain, columns });
    expect(Math.max(...text.split('\n').map(textWidth))).toBeLessThanOrEqual(columns);
    expect(text).toMatch(
      /\n {2}delivery +paused by anna.*, for 1 min.*\n(?: {16}.*\n)? {16}paused for 5 s/,
    );
  });

  it.each([undefined, 120, 80])(
    'has each reason in full below its table, with %s columns',
    (columns) => {
      const reason = `the API answers 503 ${'and says that it is busy '.repeat(8)}now`;
      const [first] = STATUS.unreadable;
      if (first === undefined) throw new Error('no unreadable file');
      const unreadable = [{ ...first, error: { code: 'x', message: reason, remedy: 'Wait.' } }];
      const long = `${'orders '.repeat(12)}of November.csv`;
      const held = {
        ...BATCH,
        batch: `20261121T115500Z-${'a'.repeat(70)}-3f2a91c0`,
        held: { ...refusals(reason), since: 0 },
      };
      const view = {
        batch: { ...held, name: long },
        standing: 'waiting',
        report: '/reports/b',
      } as const;
      const waits = [
        { code: 'release', facts: refusals(reason), orders: 3, unread: 4 },
        { code: 'retry', facts: { says: `${reason}.` }, orders: 2, until: NOW + 60_000 },
      ] as const;
      const format = { paint: plain, columns };
      const text = statusText(
        { ...STATUS, waits: [...waits], batches: [view], unreadable },
        format,
      );
      const ones = [text, batchText(view, NOW, format)];
      expect(ones.map((one) => one.replace(/\s+/g, ' ').split(reason).length - 1)).toEqual([3, 1]);
      expect(text.replace(/\s+/g, ' ')).toContain(`For its next attempt: ${reason}.`);
      const inTable = text.split('\n').filter((line) => /^ +\d+ {2}/.test(line));
      expect(inTable.map((line) => line.trim().split(/ {2,}/).slice(0, 3))).toEqual([
        ['3', 'the release of its batch (4 more are read then)', '–'],
        ['2', 'its next attempt', 'in 1 min'],
      ]);
      if (columns === undefined) return;
      const wide = ones
        .flatMap((one) => one.split('\n'))
        .filter((line) => textWidth(line) > columns);
      // The name of a batch is not broken.
      expect(wide.filter((line) => line !== held.batch)).toEqual([]);
    },
  );

  it('says of a batch whose report cannot be written that its orders have their outcome, and why', () => {
    const reason = '/srv/reports/x: the disk is full (ENOSPC)';
    const counts = { ...noOutcomes(), accepted: 5000 };
    const view: Status['batches'][number] = {
      batch: { ...BATCH, name: 'a.csv', counts, open: 0 },
      standing: 'sending',
      report: '/r',
    };
    const unsettled = {
      ...view,
      batch: { ...view.batch, unsettled: { code: 'ENOSPC', reason, since: NOW - 60_000 } },
    };
    const shown = (batch: typeof view) =>
      statusText({ ...STATUS, batches: [batch] }, { paint: plain, columns: undefined });
    expect(shown(view)).toMatch(/a\.csv +writing report +█{8} 5,000\/5,000/);
    expect(shown(unsettled)).toMatch(/a\.csv +no report yet +█{8} 5,000\/5,000/);
    expect(shown(unsettled)).toContain(
      `\n  a.csv (batch 3f2a91c0): ${reason}. All orders of the file have their outcome. Remove the cause: po-sync tries again every few seconds.\n`,
    );
    expect(batchText(unsettled, NOW, { paint: plain, columns: undefined })).toContain(reason);
    expect(batchJson(unsettled)).toMatchObject({
      state: 'sending',
      unsettled: { code: 'ENOSPC', reason, since: expect.any(String) },
    });
  });
});

it('what a terminal cuts is counted on its last line', () => {
  const text = Array.from({ length: 30 }, (_, i) => `line ${i}\n`).join('');
  const cut = linesThatFit(text, 23);
  expect(cut).toHaveLength(23);
  expect(cut.slice(-2)).toEqual([
    'line 21',
    '… 8 more lines: enlarge the window, or run po-sync status',
  ]);
  expect(linesThatFit(text, 30)).toEqual(text.trimEnd().split('\n'));
});

describe('the list of batches', () => {
  const settled = {
    corrected: 1,
    open: 0,
    counts: { ...noOutcomes(), accepted: 1200, duplicate: 88, invalid: 12 },
  };
  const finished: Status['batches'][number] = {
    batch: { ...BATCH, ...settled, state: 'done', startedAt: NOW - 12 * 60_000 - 34_000 },
    standing: 'finished',
    report: '/reports/b',
  };
  const sending: Status['batches'][number] = {
    ...finished,
    batch: { ...finished.batch, state: 'open', open: 3 },
    standing: 'sending',
  };

  it.each([
    ['finished', [finished]],
    ['in progress', [sending, finished]],
  ])('has what was accepted and what is open at 80 characters: %s', (_name, batches) => {
    const [head = '', ...lines] = batchTable(batches, NOW, { paint: plain, columns: 80 })
      .trimEnd()
      .split('\n');
    expect(head.trim().split(/ +/)).toEqual(
      expect.arrayContaining(['batch', 'file', 'state', 'accepted', 'duplicate', 'open']),
    );
    for (const line of [head, ...lines]) expect(textWidth(line)).toBeLessThanOrEqual(80);
    const [wide] = batchTable(batches, NOW, { paint: plain, columns: undefined }).split('\n');
    expect(wide).toMatch(/ accepted +duplicate +open +settled +taken$/);
  });
});
