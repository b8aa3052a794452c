import { mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
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
