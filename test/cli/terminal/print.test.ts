import { expect, it } from 'vitest';
import { createPaint } from '../../../src/cli/terminal/print.ts';

it.each([
  [true, {}, true],
  [true, { NO_COLOR: '1' }, false],
  [true, { NO_COLOR: '' }, false],
  [false, {}, false],
])('on a terminal %j with %j there is colour: %j', (isTTY, env, coloured) => {
  expect(createPaint({ isTTY, env })('bad', 'x') !== 'x').toBe(coloured);
});
