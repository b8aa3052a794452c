import { expect, it } from 'vitest';
import { changeTexts } from '../../src/order/closing-text.ts';

const filled = { place: 'line 7', field: 'Number', from: '', to: 'W-4' };

it('a change names its row, unless that is the only one and shown beside it', () => {
  expect(changeTexts([filled], 'line 7')).toEqual(['Number: (empty) → W-4']);
  expect(changeTexts([filled], 'line 6')).toEqual(['line 7, Number: (empty) → W-4']);
  const other = { place: 'line 6', field: 'Qty', from: '1', to: '2' };
  expect(changeTexts([other, filled], 'line 6')).toEqual(['line 6, Qty: 1 → 2', 'line 7, Number: (empty) → W-4']);
});
