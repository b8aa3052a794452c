import { mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { correctedBook } from '../support/fix-workbook.ts';
import { until } from '../support/until.ts';
import { openWorkplace, type Workplace } from '../support/workplace.ts';

const SOURCE =
  '- { name: erp, type: inbox, path: inbox, stable: 100ms, poll: 200ms, answers: answers }';
const MAPPED = SOURCE.replace(' }', ', mapping: erp }');
const COLUMNS =
  'purchaseOrderNumber: { is: purchaseOrderNumber }, articleCode: { is: articleCode }, quantity: { is: quantity }';
const REFUSED = {
  kind: 'answer',
  status: 400,
  message: '=cmd|calc is not for sale',
  orders: ['PO-3'],
};

async function openErp(
  source = SOURCE,
  more = '',
  sandbox = {},
): Promise<Workplace & { answers: string }> {
  const place = await openWorkplace({ source, more, sandbox, faults: { faults: [REFUSED] } });
  const answers = path.join(place.folder, 'answers');
  await mkdir(answers);
  return { ...place, answers };
}

it('an answer has every row of a CSV with its own columns, the outcome, the time and the message', async () => {
  const mapping = `mappings: { erp: { encoding: windows-1252, columns: { ${COLUMNS}, plant: ignore } } }`;
  await using place = await openErp(MAPPED, mapping);
  const rows = [
    'plant;purchaseOrderNumber;articleCode;quantity',
    '=1+1;PO-1;A;1',
    'P2;PO-2;Bö;none',
    'P3;PO-3;C;2',
  ];
  await place.drop('orders.csv', Buffer.from(`${rows.join('\r\n')}\r\n`, 'latin1'));
  expect(await place.run(['start', '--once'])).toMatchObject({ code: 2 });
  const [report] = await place.reportsNow();
  expect(await readdir(place.answers)).toEqual([`${report?.batch}.csv`]);
  const lines = (await readFile(path.join(place.answers, `${report?.batch}.csv`), 'latin1')).split(
    '\r\n',
  );
  const time = '\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z';
  expect(lines).toEqual([
    `${rows[0]};_outcome;_at;_code;_message;_at_api`,
    expect.stringMatching(`^=1\\+1;PO-1;A;1;accepted;${time};;;yes$`),
    expect.stringMatching(
      `^P2;PO-2;Bö;none;invalid;${time};not-a-number;quantity is not a number;no$`,
    ),
    // What the API says never runs in a spreadsheet.
    expect.stringMatching(`^P3;PO-3;C;2;refused;${time};400;'=cmd.*;no$`),
    '',
  ]);
});

it('an answer to JSON has the objects of the input with five more keys', async () => {
  await using place = await openErp();
  const orders = ['PO-1', 'PO-3'].map((purchaseOrderNumber) => ({
    purchaseOrderNumber,
    orderState: 'NEW',
    items: [{ articleCode: 'A', quantity: 1 }],
  }));
  await place.drop('orders.json', JSON.stringify(orders));
  await place.drop(
    'orders.ndjson',
    orders
      .map(
        (order) =>
          `${JSON.stringify({ ...order, purchaseOrderNumber: `${order.purchaseOrderNumber}0` })}\n`,
      )
      .join(''),
  );
  await place.run(['start', '--once']);
  const names = await readdir(place.answers);
  const read = (end: string) =>
    readFile(path.join(place.answers, names.find((name) => name.endsWith(end)) ?? ''), 'utf8');
  const [json, ndjson] = [await read('.json'), await read('.ndjson')];
  const expected = orders.map((order, at) => ({
    ...order,
    _outcome: ['accepted', 'refused'][at],
    _at_api: ['yes', 'no'][at],
  }));
  expect(JSON.parse(json)).toMatchObject(expected);
  const lines = ndjson.trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject(
    orders.map(({ purchaseOrderNumber }) => ({
      purchaseOrderNumber: `${purchaseOrderNumber}0`,
      _outcome: 'accepted',
    })),
  );
});

it('an answer to an unreadable file is one line', async () => {
  await using place = await openErp();
  await place.drop('broken.csv', 'purchaseOrderNumber,articleCode,quantity\nPO-1,"A,1\n');
  await place.run(['start', '--once']);
  const [name = ''] = await readdir(place.answers);
  expect((await readFile(path.join(place.answers, name), 'utf8')).split('\r\n')).toEqual([
    '_outcome,_at,_code,_message,_at_api',
    expect.stringMatching(/^unreadable,.*,unreadable-.*,$/s),
    '',
  ]);
});

it('an answer says whether the API has the number, also where an order of it was accepted before', async () => {
  const source =
    '- { name: erp, type: export, path: erp.json, stable: 100ms, poll: 200ms, answers: answers }';
  await using place = await openErp(source, '', { record: true });
  const known = new Set<string>();
  const answerTo = async (...orders: object[]) => {
    await writeFile(path.join(place.folder, 'erp.json'), `${JSON.stringify(orders)}\n`);
    await place.run(['start', '--once']);
    const names = (await readdir(place.answers)).filter((name) => !known.has(name));
    expect(names).toHaveLength(1);
    for (const name of names) known.add(name);
    const answer = await readFile(path.join(place.answers, names[0] ?? ''), 'utf8');
    return (JSON.parse(answer) as Record<string, string>[]).map(({ _outcome, _code, _at_api }) =>
      [_outcome, _code, _at_api].join(' '),
    );
  };
  const order = (purchaseOrderNumber: string, quantity: number | string = 1) => {
    return { purchaseOrderNumber, items: [{ articleCode: 'A', quantity }] };
  };
  const others = [order('PO-3'), order('PO-4', 'none')];
  expect(await answerTo(order('PO-1'), order('PO-2'), ...others)).toEqual([
    'accepted  yes',
    'accepted  yes',
    'refused 400 no',
    'invalid not-a-number no',
  ]);
  const changed = [order('PO-1', 2), order('PO-2', 'none')];
  expect(await answerTo(...changed, ...others)).toEqual([
    'conflict other-content yes',
    'invalid not-a-number yes',
    'duplicate known-invalid no',
    'duplicate known-invalid no',
  ]);
  expect(await answerTo(...changed, order('PO-4', 'none'), order('PO-6'))).toEqual([
    'duplicate known-invalid yes',
    'duplicate known-invalid yes',
    'duplicate known-invalid no',
    'accepted  yes',
  ]);
  await place.setFaults([
    { kind: 'drop', when: 'after', orders: ['PO-7'] },
    { kind: 'answer', on: 'list', status: 403 },
  ]);
  expect(await answerTo(order('PO-6'), order('PO-7'))).toEqual([
    'duplicate duplicate yes',
    expect.stringMatching(/^inDoubt .* unknown$/),
  ]);
});

it('an answer waits for its folder, does not follow a link, and replaces no file', async () => {
  await using place = await openErp();
  await rename(place.answers, path.join(place.folder, 'elsewhere'));
  await symlink(path.join(place.folder, 'elsewhere'), place.answers);
  await place.drop('orders.csv', 'purchaseOrderNumber,articleCode,quantity\nPO-1,A,1\n');
  const daemon = place.start(['start']);
  await until('the failure is logged', () => daemon.out().includes('answers is a link'));
  const [batch] = await readdir(path.join(place.inbox, 'processing'));
  expect(await readdir(path.join(place.folder, 'elsewhere'))).toEqual([]);
  await rename(place.answers, path.join(place.folder, 'link'));
  await mkdir(path.join(place.folder, 'next'));
  await writeFile(path.join(place.folder, 'next', `${batch}.csv`), 'of somebody else');
  await rename(path.join(place.folder, 'next'), place.answers);
  await until('the answer is there', async () =>
    (await readdir(place.answers)).includes(`${batch}-2.csv`),
  );
  daemon.child.kill('SIGTERM');
  await daemon.ended;
  expect((await readdir(place.answers)).sort()).toEqual([`${batch}-2.csv`, `${batch}.csv`]);
  expect(await readFile(path.join(place.answers, `${batch}.csv`), 'utf8')).toBe('of somebody else');
});

it('an answer says that a duplicate is not accepted; a fix file has an answer, and an order sent again has none', async () => {
  await using place = await openErp(SOURCE, '', { record: true });
  await place.setFaults([{ ...REFUSED, orders: ['PO-3', 'PO-4'] }]);
  const answerTo = async (file: string) => {
    const batch = await until(`the report of ${file}`, async () =>
      (await place.reportsNow()).find((one) => one.file === file && one.state === 'finished'),
    );
    const name = await until('its answer', async () =>
      (await readdir(place.answers)).find((one) => one.startsWith(batch.batch)),
    );
    return await readFile(path.join(place.answers, name), 'utf8');
  };
  await place.run(['pause']);
  const daemon = place.start(['start']);
  const items = [{ articleCode: 'A', quantity: 1 }];
  const orders = ['PO-1', 'PO-3'].map((purchaseOrderNumber) => ({ purchaseOrderNumber, items }));
  await place.drop('first.json', JSON.stringify(orders));
  await until('its orders wait', async () => (await waits(place, 'pause')) === 2);
  await place.drop(
    'second.csv',
    'purchaseOrderNumber,articleCode,quantity\nPO-1,A,1\nPO-3,A,1\nPO-4,A,1\n',
  );
  await until('two wait for them', async () => (await waits(place, 'order')) === 2);
  await place.run(['resume']);
  const codes = JSON.parse(await answerTo('first.json')) as Record<string, string>[];
  expect(codes.map(({ _outcome, _code }) => [_outcome, _code])).toEqual([
    ['accepted', ''],
    ['refused', '400'],
  ]);
  const second = await answerTo('second.csv');
  expect(second).toMatch(/^PO-1,A,1,duplicate,[^,]*,duplicate,.*is in ""first.json""/m);
  expect(second).toMatch(
    /^PO-3,A,1,duplicate,[^,]*,not-accepted,.*is in ""first.json"".*, and is not accepted/m,
  );
  expect(second).toMatch(/^PO-4,A,1,refused,/m);

  await place.setFaults([]);
  expect((await place.run(['dead-letters', 'retry', '--order', 'PO-4', '--yes'])).code).toBe(0);
  await until('it is accepted', () => place.stored().has('PO-4'));
  const [report] = await place.reportsNow();
  if (report === undefined) throw new Error('no report');
  await place.drop('first.fix.xlsx', await correctedBook(place, report, () => ({ _do: 'send' })));
  expect(await answerTo('first.fix.xlsx')).toMatch(/PO-3.*accepted/s);
  // What is written at this moment has a hidden name.
  expect((await readdir(place.answers)).filter((name) => !name.startsWith('.'))).toHaveLength(3);
  expect(await answerTo('second.csv')).toBe(second);
  daemon.child.kill('SIGTERM');
  expect((await daemon.ended).code).toBe(0);
});

/** How many orders wait for something. */
async function waits(place: Workplace, what: string): Promise<number> {
  const { out } = await place.run(['status', '--json']);
  const { waits: found } = JSON.parse(out) as { waits: { for: string; orders: number }[] };
  return found.find((one) => one.for === what)?.orders ?? 0;
}
