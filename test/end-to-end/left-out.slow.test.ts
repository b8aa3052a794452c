import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { openWorkplace } from '../support/workplace.ts';

const HEAD = 'purchaseOrderNumber,articleCode,quantity,STATUS\n';
const COLUMNS =
  'purchaseOrderNumber: { is: purchaseOrderNumber }, articleCode: { is: articleCode }, quantity: { is: quantity }';
const MORE = `mappings: { erp: { columns: { ${COLUMNS}, STATUS: { send: ["10"], skip: ["90"] } } } }`;
const INBOX = '- { name: erp, type: inbox, path: inbox, stable: 100ms, poll: 200ms, mapping: erp }';

it('the report, the batch and the log name an accepted order whose rows the mapping all leaves out', async () => {
  await using place = await openWorkplace({ more: MORE, source: INBOX });
  await place.drop(
    'first.csv',
    `${HEAD}B-1,A,1,10\nB-1,B,1,10\nB-2,A,1,10\nB-2,B,1,10\nB-3,A,1,10\n`,
  );
  expect(await place.run(['start', '--once'])).toMatchObject({ code: 0 });

  // Of B-2 one row is left, B-3 has another one far below, B-4 was never sent.
  const rows = [
    'B-1,A,1,90',
    'B-1,B,1,90',
    'B-2,A,1,10',
    'B-2,B,1,90',
    'B-3,A,1,10',
    'B-4,A,1,90',
    'B-6,A,1,10',
    'B-7,A,1,10',
  ];
  const many = Array.from({ length: 2_000 }, (_, at) => `B-5,${`A${at}`.padEnd(200, 'x')},1,10`);
  await place.drop('second.csv', `${HEAD}${[...rows, ...many, 'B-3,B,1,90'].join('\n')}\n`);
  const { code, out } = await place.run(['start', '--once']);
  expect(code).toBe(2);
  const [first, second] = await place.reportsNow();
  if (first === undefined || second === undefined) throw new Error('no reports');
  expect(first).not.toHaveProperty('leftOut');
  expect(second).toMatchObject({
    counts: { orders: 5, accepted: 3, duplicate: 1, conflict: 1 },
    leftOut: {
      orders: 1,
      first: [{ purchaseOrderNumber: 'B-1', line: 2, state: 'accepted' }],
    },
  });
  const text =
    '1 order that the mapping leaves out was accepted earlier: B-1 (line 2). po-sync did not cancel it: inform the supplier if it is not wanted.';
  expect(second.warnings).toContain(text);
  expect((await place.read(second, 'report.html')).replaceAll('&quot;', '"')).toContain(text);
  const shown = await place.run(['batches', 'show', second.batch]);
  expect(shown.out.replace(/\s+/g, ' ')).toContain(text);
  expect(await place.json('batches', 'show', second.batch)).toMatchObject({
    warnings: expect.arrayContaining([text]),
  });
  expect(out).toMatch(/"event":"batch-finished".*"file":"second\.csv".*"leftOut":1/);
});

it('an export names an order that it leaves out once', async () => {
  const source =
    '- { name: erp, type: export, path: erp.csv, stable: 100ms, poll: 200ms, mapping: erp }';
  await using place = await openWorkplace({ more: MORE, source });
  const version = async (...of: [number: string, status: number][]) => {
    const rows = of.map(
      ([number, status]) => `${number},A,1,${status}
`,
    );
    await writeFile(path.join(place.folder, 'erp.csv'), HEAD + rows.join(''));
    await place.run(['start', '--once']);
    return (await place.reportsNow()).at(-1)?.leftOut?.first.map((one) => one.purchaseOrderNumber);
  };
  expect(await version(['PO-1', 10], ['PO-2', 10])).toBeUndefined();
  expect(await version(['PO-1', 90])).toEqual(['PO-1']);
  expect(await version(['PO-1', 90], ['PO-2', 90], ['PO-3', 90])).toEqual(['PO-2']);
  expect(await version(['PO-1', 90], ['PO-2', 10])).toBeUndefined();
  expect(await version(['PO-1', 90], ['PO-2', 90])).toBeUndefined();
});
