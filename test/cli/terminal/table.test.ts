import { describe, expect, it } from 'vitest';
import type { Format, Paint } from '../../../src/cli/terminal/print.ts';
import { blockText } from '../../../src/cli/terminal/view-text.ts';
import { textWidth } from '../../../src/core/format.ts';
import { type Column, tableOf } from '../../../src/views/view.ts';

type Row = { name: string; count: number; why: string };

const plain: Paint = (_, text) => text;
const table = (rows: readonly Row[], columns: readonly Column<Row>[], format: Format) =>
  blockText(tableOf(rows, columns), format);
const COLUMNS: Column<Row>[] = [
  { title: 'name', of: ({ name }) => name, cut: 'start' },
  { title: 'count', of: ({ count }) => String(count), right: true },
  { title: 'why', of: ({ why }) => why, cut: 'end' },
];
const ROWS: Row[] = [
  {
    name: '20261121T071500Z-inbox-orders-3f2a91c0',
    count: 7,
    why: 'articleCode is invalid, and more of that',
  },
  { name: 'short', count: 12_000, why: 'no' },
];

describe('a table', () => {
  it('aligns its columns under their titles', () => {
    expect(table(ROWS, COLUMNS, { paint: plain, columns: undefined })).toBe(
      [
        'name                                    count  why',
        '20261121T071500Z-inbox-orders-3f2a91c0      7  articleCode is invalid, and more of that',
        'short                                   12000  no',
        '',
      ].join('\n'),
    );
  });

  it.each([120, 80, 60, 40, 30, 20, 10])('fits %i columns', (columns) => {
    const lines = table(ROWS, COLUMNS, { paint: plain, columns }).trimEnd().split('\n');
    expect(Math.max(...lines.map(textWidth))).toBeLessThanOrEqual(columns);
  });

  it('cuts at the start or the end, and marks the cut', () => {
    const lines = table(ROWS, COLUMNS, { paint: plain, columns: 50 }).split('\n');
    expect(lines[1]).toMatch(/^…\S*3f2a91c0 +7 {2}articleCode .*…$/);
  });

  it('leaves out dispensable columns so that the rest is readable', () => {
    const columns: Column<Row>[] = [
      { title: 'name', of: ({ name }) => name, cut: 'start', wish: 9, leaves: 2 },
      { title: 'count', of: ({ count }) => String(count), right: true, leaves: 1 },
      { title: 'why', of: ({ why }) => why, cut: 'end', wish: 30 },
    ];
    const headAt = (places: number) =>
      table(ROWS, columns, { paint: plain, columns: places }).split('\n')[0]?.trim();
    expect(headAt(60)).toMatch(/^name +count +why$/);
    expect(headAt(45)).toMatch(/^name +why$/);
    expect(headAt(30)).toBe('why');
    const [, line] = table(ROWS, columns, { paint: plain, columns: 45 }).split('\n');
    expect(line).toMatch(/^…\S*3f2a91c0 {2}articleCode is invalid, and m/);
  });

  it('measures wide and joined characters as a terminal does', () => {
    expect(['abc', '発注', 'ｱ', 'é', 'e\u0301', '👩‍🚀'].map(textWidth)).toEqual([3, 4, 1, 1, 1, 2]);
    const rows = [{ name: '発注発注発注発注', count: 1, why: 'x' }];
    const [, line = ''] = table(rows, COLUMNS, { paint: plain, columns: 20 }).split('\n');
    expect(textWidth(line)).toBeLessThanOrEqual(20);
  });

  it('escapes hidden characters', () => {
    const rows = [{ name: 'a\u001b[2Jb\u202e\n', count: 1, why: '' }];
    expect(table(rows, COLUMNS, { paint: plain, columns: undefined })).toContain(
      'a\\u001b[2Jb\\u202e\\n',
    );
  });

  it('is empty without rows', () => {
    expect(table([], COLUMNS, { paint: plain, columns: 80 })).toBe('');
  });
});
