import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { checkPath } from '../../../src/operate/delivery/source-status.ts';
import { makeTempFolder } from '../../support/temp-folder.ts';

it('the status of a source says whether its file, or the folder of its pattern, is there', async () => {
  await using folder = await makeTempFolder();
  const file = path.join(folder.path, 'orders[1].csv');
  await writeFile(file, '');
  const states = [
    file,
    path.join(folder.path, '*.csv'),
    path.join(folder.path, '**', 'orders-*.csv'),
    path.join(folder.path, 'missing', '*.csv'),
    path.join(folder.path, 'missing.csv'),
    'https://erp.example.com/orders.csv',
  ].map(async (source) => (await checkPath(source)).state);
  expect(await Promise.all(states)).toEqual(['ok', 'ok', 'no match', 'missing', 'missing', 'not checked']);
});
