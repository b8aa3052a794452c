import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { finalLine, type LiveState, liveLines } from '../../../src/cli/terminal/live-lines.ts';
import { createPaint } from '../../../src/cli/terminal/print.ts';
import { textWidth } from '../../../src/core/format.ts';
import type { Batch } from '../../../src/ledger/batches/batches.ts';
import { noOutcomes } from '../../../src/order/outcome.ts';
import { answered, byOperator } from '../../support/pause.ts';

const plain = createPaint({ isTTY: true, env: { NO_COLOR: '1' } });
const color = createPaint({ isTTY: true, env: {} });

function batchOf(more: Partial<Batch> = {}): Batch {
  return {
    batch: '20261121T071500Z-inbox-orders-3f2a91c0',
    no: 1,
    source: 'inbox',
    kind: 'inbox',
    name: 'orders.csv',
    path: '/inbox/processing/b/orders.csv',
    state: 'open',
    startedAt: 0,
    lastAt: 12_000,
    total: 5000,
    cancelled: false,
    counts: { ...noOutcomes(), accepted: 2247, invalid: 3 },
    open: 3,
    ...more,
  };
}

function linesOf(state: Partial<LiveState>, columns = 100, paint = plain): string[] {
  return liveLines({ now: 200_000, pause: undefined, batches: [], ...state }, { paint, columns });
}

describe('a batch in progress', () => {
  it('shows progress as a bar and what needs a person, as status does', () => {
    const waiting = batchOf({ name: 'b.csv', total: 60, counts: noOutcomes(), open: 0 });
    expect(linesOf({ batches: [waiting, batchOf()] }, 80)).toEqual([
      'batch                 file        state                    done  accepted  open',
      '…box-orders-3f2a91c0  b.csv       sending         ░░░░░░░░ 0/60         0     0',
      '…box-orders-3f2a91c0  orders.csv  sending  ███░░░░░ 2,250/5,000     2,247     3',
    ]);
  });

  it('is below the pause', () => {
    const pause = { ...answered('http-503', 'the API answers 503'), since: 80_000 };
    expect(linesOf({ pause, batches: [batchOf()] })[0]).toBe(
      'paused for 2 min (ends automatically): the API answers 503',
    );
  });

  it("shows what ends an operator's pause", () => {
    const pause = { ...byOperator('mia'), since: 199_000 };
    expect(linesOf({ pause })).toEqual([
      'paused for 1 s (ends with po-sync resume): paused by mia',
    ]);
  });

  it('is only counted if there are too many', () => {
    const batches = Array.from({ length: 12 }, (_, i) => batchOf({ batch: `b${i}` }));
    expect(linesOf({ batches })).toHaveLength(10);
    expect(linesOf({ batches }).at(-1)).toBe('and 4 more; po-sync batches list');
  });

  it.each([20, 30, 40, 60, 80, 200])('fits a terminal of %d columns', (columns) => {
    const pause = { ...answered('x', '那个很长的理由'.repeat(20)), since: 0 };
    const names = [
      'orders.csv',
      'a very long name of a file that goes on and on.csv',
      '注文書の一覧と明細データ.csv',
    ];
    const batches = names.map((name) => batchOf({ name }));
    for (const line of linesOf({ pause, batches }, columns))
      expect(textWidth(line)).toBeLessThan(columns);
  });

  it('shows hidden characters of a file name', () => {
    const [, line] = linesOf({
      batches: [batchOf({ name: '\u001B[2Jx\u202E.csv' })],
    });
    expect(line).toContain('\\u001b[2Jx\\u202e');
  });

  it('has the same words with color and without', () => {
    const state = { batches: [batchOf()] };
    const painted = linesOf(state, 100, color);
    expect(painted[0]).toContain('\u001B[');
    expect(painted.map(stripVTControlCharacters)).toEqual(linesOf(state));
  });
});

describe('a finished batch', () => {
  const { total: _, ...unreadable } = batchOf();
  it.each([
    [
      batchOf({ total: 2250 }),
      '! orders.csv  2,250 orders in 12 s: 2,247 accepted, 3 invalid; 3 need a person',
    ],
    [
      batchOf({ total: 1, counts: { ...noOutcomes(), accepted: 1 } }),
      '✓ orders.csv  1 order in 12 s: 1 accepted',
    ],
    [
      batchOf({ total: 0, lastAt: 0, counts: noOutcomes() }),
      '✓ orders.csv  0 orders in less than 1 s',
    ],
    [unreadable, '✗ orders.csv  unreadable, nothing was sent'],
  ])('leaves its outcomes and, below, its report (%#)', (batch, line) => {
    expect(finalLine(batch, '/r/report.html', plain)).toBe(`${line}\n  /r/report.html\n`);
  });
});
