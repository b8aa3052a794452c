import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { correctedBook } from '../support/fix-workbook.ts';
import { removeRehearsal } from '../support/remove-rehearsal.ts';
import { openWorkplace } from '../support/workplace.ts';

const COLUMNS =
  '{ purchaseOrderNumber: { is: purchaseOrderNumber }, articleCode: { is: articleCode }, quantity: { is: quantity } }';
const MORE = `mappings: { erp: { lastRow: "^END", columns: ${COLUMNS} } }`;
const ROWS = 'purchaseOrderNumber;articleCode;quantity\nE-1;A;1\nE-2;A;1\n';

it('of an export that is cut off above its last row nothing is sent, and its complete version is', async () => {
  const source =
    '- { name: erp, type: export, path: erp.csv, stable: 20ms, poll: 50ms, mapping: erp }';
  await using place = await openWorkplace({ more: MORE, source });
  const file = path.join(place.folder, 'erp.csv');
  await writeFile(file, ROWS);
  const checked = await place.run(['check', file, '--source', 'erp']);
  expect(checked.code).not.toBe(0);
  expect(checked.out + checked.err).toContain('The file is not complete');
  const rehearsed = await place.run(['rehearse', file, '--source', 'erp']);
  await removeRehearsal(rehearsed.out);
  expect(rehearsed.code).toBe(2);
  expect(rehearsed.out + rehearsed.err).toContain('The file is not complete');

  await place.run(['start', '--once']);
  expect(place.stored().size).toBe(0);
  expect((await place.reportsNow()).map(({ error }) => error?.code)).toEqual([
    'unreadable-no-last-row',
  ]);

  await writeFile(file, `${ROWS}E-2;B;1\nEND;;\n`);
  expect(await place.run(['start', '--once'])).toMatchObject({ code: 0 });
  expect([...place.stored()]).toEqual([
    ['E-1', 1],
    ['E-2', 1],
  ]);
});

it('a fix file of such a source is taken without the row', async () => {
  const source =
    '- { name: erp, type: inbox, path: inbox, stable: 50ms, poll: 50ms, mapping: erp }';
  await using place = await openWorkplace({ more: MORE, source });
  await place.drop('erp.csv', `${ROWS}E-3;C;none\nEND;;\n`);
  await place.run(['start', '--once']);
  const [report] = await place.reportsNow();
  if (report === undefined) throw new Error('no report');
  await place.drop('fix.xlsx', await correctedBook(place, report, () => ({ quantity: '3' })));
  expect(await place.run(['start', '--once'])).toMatchObject({ code: 0 });
  expect([...place.stored().keys()]).toEqual(['E-1', 'E-2', 'E-3']);
  expect((await place.reportsNow())[1]?.warnings).toEqual([]);
});
