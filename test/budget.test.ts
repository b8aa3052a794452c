import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { type Size, sizeOf } from './support/budget.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const budget: Size = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'budget.json'), 'utf8'),
);

it.each(Object.keys(budget) as (keyof Size)[])('the size of %s is within the budget', (part) => {
  expect(sizeOf(ROOT)[part], 'delete what nobody needs').toBeLessThanOrEqual(budget[part]);
});
