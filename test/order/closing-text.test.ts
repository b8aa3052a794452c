import { expect, it } from 'vitest';
import { changeTexts } from '../../src/order/closing-text.ts';
import { keptAsRead } from '../../src/order/order.ts';

const filled = { place: 'line 7', field: 'Number', from: '', to: 'W-4' };

it('a change names its row, unless that is the only one and shown beside it', () => {
  expect(changeTexts([filled], 'line 7')).toEqual(['Number: (empty) → W-4']);
  expect(changeTexts([filled], 'line 6')).toEqual(['line 7, Number: (empty) → W-4']);
  const other = { place: 'line 6', field: 'Qty', from: '1', to: '2' };
  expect(changeTexts([other, filled], 'line 6')).toEqual([
    'line 6, Qty: 1 → 2',
    'line 7, Number: (empty) → W-4',
  ]);
});

it('a value that a workbook kept as a formula text is named as its cell shows it', () => {
  const date = { place: 'line 7', field: 'Qty', from: '="2026-12-03"', to: '3' };
  expect(changeTexts([date], 'line 7')).toEqual(['Qty: 2026-12-03 → 3']);
  expect(keptAsRead([{ articleCode: 'A-1', quantity: '="2026-12-03"' }]).itemsRead).toEqual([
    'A-1 × 2026-12-03',
  ]);
});
