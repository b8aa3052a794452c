import { appendFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createStability } from '../../src/intake/stability.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const STABLE = 2_000;
const COMPLETE = 'purchaseOrderNumber,articleCode,quantity\n1,A,1\n';

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let file: string;
beforeEach(async () => {
  folder = await makeTempFolder();
  file = path.join(folder.path, 'orders.csv');
});
afterEach(() => folder[Symbol.asyncDispose]());

const readyOf = async (stability: ReturnType<typeof createStability>, now: number) =>
  (await stability.check([file], now)).ready.map((one) => path.basename(one.file));

it('a file is ready after it was unchanged for the full time, and not before', async () => {
  await writeFile(file, COMPLETE);
  const stability = createStability(STABLE);
  expect(await readyOf(stability, 0)).toEqual([]);
  expect(await readyOf(stability, STABLE - 1)).toEqual([]);
  expect(await readyOf(stability, STABLE)).toEqual(['orders.csv']);
});

it('each change restarts the time', async () => {
  await writeFile(file, COMPLETE);
  const stability = createStability(STABLE);
  await stability.check([file], 0);
  await appendFile(file, '2,A,1\n');
  expect(await readyOf(stability, STABLE)).toEqual([]);
  expect(await readyOf(stability, 2 * STABLE - 1)).toEqual([]);
  expect(await readyOf(stability, 2 * STABLE)).toEqual(['orders.csv']);
});

it('a file is late after ten times the time', async () => {
  await writeFile(file, COMPLETE);
  const stability = createStability(STABLE);
  await stability.check([file], 0);
  expect((await stability.check([file], 10 * STABLE - 1)).ready).toMatchObject([{ isLate: false }]);
  expect((await stability.check([file], 10 * STABLE)).ready).toMatchObject([{ isLate: true }]);
});
