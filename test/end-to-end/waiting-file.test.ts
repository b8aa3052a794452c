import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { openWorkplace, type Workplace } from '../support/workplace.ts';

const SOURCE =
  '- { name: inbox, type: inbox, path: inbox, stable: 20ms, poll: 50ms, maxOrders: 2 }';
const FILE = 'purchaseOrderNumber,articleCode,quantity\nPO-1,A,1\nPO-2,A,1\nPO-2,B,1\nPO-3,A,1\n';

/** A place with a file that has more orders than its source allows, after a run that took it. */
async function openPlace(): Promise<Workplace & { batch: string }> {
  const place = await openWorkplace({ source: SOURCE });
  await place.drop('orders.csv', FILE);
  expect(await place.run(['start', '--once'])).toMatchObject({ code: 2 });
  const [{ batch }] = (await place.json('batches', 'list')).batches;
  return { ...place, batch };
}

it('a file with more orders than its source allows waits, and says why', async () => {
  await using place = await openPlace();
  const { batch } = place;
  expect([...place.stored()]).toEqual([]);
  expect(await place.json('batches', 'show', batch)).toMatchObject({
    state: 'waiting',
    waits: {
      code: 'volume',
      facts: { orders: 3, maxOrders: 2 },
      message: 'it has 3 orders, and its source allows 2',
    },
  });
  expect(await place.run(['start', '--once'])).toMatchObject({ code: 2 });
  expect([...place.stored()]).toEqual([]);
});

it('a file that waits is sent as it is when a person releases it', async () => {
  await using place = await openPlace();
  const { batch } = place;
  const daemon = place.start(['start']);
  await until('ready', () => daemon.out().includes('daemon ready'));
  expect(await place.run(['batches', 'release', batch, '--yes'])).toMatchObject({ code: 0 });
  await until('the orders', () => place.stored().size === 3);
});

it('a file that waits is put away when a person cancels it, and none of it is sent', async () => {
  await using place = await openPlace();
  const { batch } = place;
  await place.run(['batches', 'cancel', batch, '--yes']);
  await place.run(['start', '--once']);
  const [report] = await place.reportsNow();
  expect(report).toMatchObject({ state: 'cancelled', counts: { orders: 3, cancelled: 3 } });
  expect([...place.stored()]).toEqual([]);
});

it('a file that waits is read again after a restart that allows it', async () => {
  await using place = await openPlace();
  const config = await readFile(place.config, 'utf8');
  await writeFile(place.config, config.replace('maxOrders: 2', 'maxOrders: 3'));
  const { code, out } = await place.run(['start', '--once']);
  expect(code).toBe(0);
  // Its orders do not wait aside as those of a held batch.
  expect(out).not.toContain('orders-requeued');
  expect([...place.stored().keys()]).toEqual(['PO-1', 'PO-2', 'PO-3']);
});

const COLUMNS =
  'purchaseOrderNumber: { is: purchaseOrderNumber }, articleCode: { is: articleCode }, quantity: { is: quantity }';

/** A place with a file of which the mapping does not declare a column, after a run that took it. */
async function openUndeclared(): Promise<Workplace & { batch: string }> {
  const source =
    '- { name: erp, type: inbox, path: inbox, stable: 20ms, poll: 50ms, mapping: erp }';
  const more = `mappings: { erp: { columns: { ${COLUMNS} } } }`;
  const place = await openWorkplace({ source, more });
  const rows = ['PO-1,A,1,N', 'PO-2,A,1,S', 'PO-3,A,1,N'];
  await place.drop(
    'orders.csv',
    `purchaseOrderNumber,articleCode,quantity,plant\n${rows.join('\n')}\n`,
  );
  expect(await place.run(['start', '--once'])).toMatchObject({ code: 2 });
  const [{ batch, waits }] = (await place.json('batches', 'list')).batches;
  const values = [
    { value: 'N', rows: 2 },
    { value: 'S', rows: 1 },
  ];
  expect(waits).toMatchObject({
    code: 'layout',
    facts: { missing: [], undeclared: [{ name: 'plant', values, rows: 3 }] },
    message: 'its mapping does not declare "plant"',
  });
  const { out } = await place.run(['batches', 'show', batch]);
  const page = await readFile(path.join(place.reports, 'open', 'open.html'), 'utf8');
  for (const text of [out, page.replaceAll('&quot;', '"')])
    expect(text).toContain('plant: ignore # 2× "N", 1× "S"');
  expect([...place.stored()]).toEqual([]);
  return { ...place, batch };
}

it('a file with an undeclared column is sent as it is when a person releases it', async () => {
  await using place = await openUndeclared();
  expect(await place.run(['batches', 'release', place.batch, '--yes'])).toMatchObject({ code: 0 });
  expect(await place.run(['start', '--once'])).toMatchObject({ code: 0 });
  expect([...place.stored().keys()]).toEqual(['PO-1', 'PO-2', 'PO-3']);
});

it('a file with an undeclared column is read again after a restart whose mapping declares it', async () => {
  await using place = await openUndeclared();
  const config = await readFile(place.config, 'utf8');
  await writeFile(
    place.config,
    config.replace(COLUMNS, `${COLUMNS}, plant: { send: [N], skip: [S] }`),
  );
  expect(await place.run(['start', '--once'])).toMatchObject({ code: 0 });
  expect([...place.stored().keys()]).toEqual(['PO-1', 'PO-3']);
});

it('an export that waits, and its order that failed a rule, are judged anew after their mapping was changed', async () => {
  const columns = (plant: string) => `columns: { ${COLUMNS}${plant} }`;
  await using place = await openWorkplace({
    source: '- { name: erp, type: export, path: erp.csv, stable: 20ms, poll: 50ms, mapping: erp }',
    more: `mappings: { erp: { ${columns('')} } }`,
  });
  const rows = ['PO-1,A,1,N', 'PO-2,A,1,S'];
  const file = `purchaseOrderNumber,articleCode,quantity,plant\n${rows.join('\n')}\n`;
  await writeFile(path.join(place.folder, 'erp.csv'), file);
  const runWith = async (from: string, to: string) => {
    const config = await readFile(place.config, 'utf8');
    await writeFile(place.config, config.replace(columns(from), columns(to)));
    const { code } = await place.run(['start', '--once']);
    const open = (await place.json('dead-letters', 'list')).deadLetters;
    return { code, open: open.length, sent: [...place.stored().keys()] };
  };
  const [some, all] = [', plant: { send: [N] }', ', plant: { send: [N, S] }'];
  expect(await runWith('', '')).toEqual({ code: 2, open: 0, sent: [] });
  expect(await runWith('', some)).toEqual({ code: 2, open: 1, sent: ['PO-1'] });
  expect(await runWith(some, all)).toEqual({ code: 0, open: 0, sent: ['PO-1', 'PO-2'] });
});
