import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { statusText } from '../../../src/cli/commands/status.ts';
import { createPaint } from '../../../src/cli/terminal/print.ts';
import { textWidth } from '../../../src/core/format.ts';
import type { Batch } from '../../../src/ledger/batches/batches.ts';
import type { Status } from '../../../src/operate/delivery/read-status.ts';
import { noOutcomes } from '../../../src/order/outcome.ts';

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
    { name: 'erp', type: 'export', path: '/mnt/erp/orders.csv', state: 'unreachable', code: 'EACCES' },
  ],
  queue: { waitingJobs: 61, unsettledOrders: 1204, ordersInDoubt: 2 },
  waits: [
    {
      for: 'pause',
      reason: 'paused by anna',
      orders: 1202,
      until: NOW + 5_000,
      oldest: { order: 'PO-1', batch: BATCH.batch, since: NOW - 300_000 },
    },
    { for: 'person', reason: '', orders: 3, oldest: { batch: BATCH.batch, since: NOW - 300_000 } },
  ],
  deadLetters: 3,
  createdTwice: 0,
  batches: [{ batch: BATCH, standing: 'sending', report: '/reports/b' }],
  unreadable: [
    {
      batch: { ...UNREADABLE, state: 'done' },
      standing: 'unreadable',
      report: '/reports/u',
      error: { code: 'unreadable-quote', message: 'Line 2 opens a quote that is never closed.' },
    },
  ],
  token: { present: true, expiresInMs: 2_467_000 },
  pauses: [
    { code: 'operator', reason: 'paused by anna\u202e', since: NOW - 60_000, held: true },
    { code: 'ledger-rolled-back', reason: 'Redis lost part of the ledger', since: NOW - 5_000, held: true },
    { code: 'api-down', reason: 'connect ECONNREFUSED', since: NOW - 192_000, held: false },
  ],
};
const plain = createPaint({ isTTY: false, env: {} });

describe('the status', () => {
  it('shows how long a daemon has sent no sign of life', () => {
    const [daemon] = STATUS.daemons;
    const status = { ...STATUS, daemons: daemon ? [{ ...daemon, silentMs: 7_000 }] : [] };
    expect(statusText(status, { paint: plain, columns: undefined })).toContain(
      'host-a:4711 for 2 h (0.1.0), no sign of life for 7 s\n',
    );
  });

  it('is readable without color', () => {
    expect(statusText(STATUS, { paint: plain, columns: undefined })).toBe(
      [
        'staging  https://api.staging.example.com/api/v1',
        '  delivery      paused for 1 min by anna\\u202e (until po-sync resume)',
        "                paused for 5 s: Redis lost part of the ledger (ends when the API's list has been read; without a list run po-sync reconcile --repair --without-list)",
        '                paused for 3 min 12 s: connect ECONNREFUSED (ends automatically)',
        '  daemons       1 running: host-a:4711 for 2 h (0.1.0)',
        '  token         valid for 41 min 7 s',
        "  queue         1,204 orders not settled, 2 being verified with the API's list; 61 jobs waiting",
        '  dead letters  3 orders need a person; run po-sync dead-letters list',
        '',
        'Orders that wait',
        '  orders  wait for                              until   oldest',
        '   1,202  the end of the pause: paused by anna  in 5 s  PO-1, 5 min ago',
        '       3  a person                              –       20261121T115500Z-inbox-orders-3f2a91c0, 5 min ago',
        '',
        'Sources',
        '  source  type    state                 path                 last file',
        '  inbox   inbox   ok                    /srv/po-sync/inbox   –',
        '  erp     export  unreachable (EACCES)  /mnt/erp/orders.csv  –',
        '',
        'Batches in progress',
        '  batch                                   file                 state           done  accepted  open  taken',
        '  20261121T115500Z-inbox-orders-3f2a91c0  orders\\u001b[2J.csv  sending  1,200/5,000     1,200     3  5 min ago',
        '',
        'Unreadable files',
        '  file        taken      why',
        '  broken.csv  5 min ago  Line 2 opens a quote that is never closed.',
        '  Correct each file and drop it again.',
        '',
      ].join('\n'),
    );
  });

  it.each([100, 80, 70])('fits its tables into %i columns', (columns) => {
    const text = statusText(STATUS, { paint: plain, columns });
    const tables = text.slice(text.indexOf('Orders that wait')).split('\n');
    expect(Math.max(...tables.map(textWidth))).toBeLessThanOrEqual(columns);
  });

  it('has the same words in color', () => {
    const colored = statusText(STATUS, { paint: createPaint({ isTTY: true, env: {} }), columns: undefined });
    const bare = stripVTControlCharacters(colored);
    expect(colored).not.toBe(bare);
    expect(bare).toBe(statusText(STATUS, { paint: plain, columns: undefined }));
  });
});
