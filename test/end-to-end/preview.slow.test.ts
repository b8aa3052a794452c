import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { bearerHeaders } from '../support/open-sandbox.ts';
import { openWorkplace } from '../support/workplace.ts';

const HEADER = 'purchaseOrderNumber,articleCode,quantity';
const fileOf = (rows: string[]) => `${[HEADER, ...rows].join('\n')}\n`;

it('check --preview counts what is new, duplicate, in conflict, waiting and invalid, and sends nothing', async () => {
  const refused = { kind: 'answer', status: 400, message: 'no', orders: ['PO-4'] };
  await using place = await openWorkplace({ faults: { faults: [refused] } });
  await place.drop('first.csv', fileOf(['PO-1,A,1', 'PO-2,A,1', 'PO-4,A,1']));
  await place.run(['start', '--once']);
  // The API has an order that po-sync never saw.
  const body = JSON.stringify({
    purchaseOrderNumber: 'PO-5',
    orderState: 'NEW',
    items: [{ articleCode: 'A', quantity: 1 }],
  });
  await place.api.call('POST', '/purchase-orders', {
    headers: bearerHeaders(await place.api.token()),
    body,
  });
  const calls = place.events.filter(({ type }) => type === 'received').length;

  const rows = ['PO-1,A,1', 'PO-2,A,9', 'PO-3,A,1', 'PO-4,A,1', 'PO-5,A,2', 'PO-6,A,none'];
  await writeFile(path.join(place.folder, 'next.csv'), fileOf(rows));
  const { code, out } = await place.run(['check', '--preview', '--json', 'next.csv']);
  expect(code).toBe(2);
  expect(JSON.parse(out).files[0].preview).toEqual({
    new: 1,
    unknown: 0,
    duplicate: 1,
    conflict: 2,
    waiting: 1,
    invalid: 1,
    conflicts: ['PO-2', 'PO-5'],
    list: 'ok',
  });
  const shown = await place.run(['check', '--preview', 'next.csv']);
  expect(shown.out).toContain(
    'next.csv: 6 orders, 1 new, 1 duplicate, 2 in conflict, 1 invalid, 1 waiting for a person\n',
  );
  expect(shown.out).toContain(
    "Compared with the ledger and the API's list:\n        1  new: would be sent\n",
  );
  expect(shown.out).toContain('2  conflict: known with different content: PO-2, PO-5');
  expect(shown.out).toContain(
    'First order as it would be sent:\n{\n  "purchaseOrderNumber": "PO-3"',
  );
  const all = await place.run(['check', '--preview', '--orders', '--json', 'next.csv']);
  const items = [{ articleCode: 'A', quantity: 1 }];
  const toSend = [{ line: 4, purchaseOrderNumber: 'PO-3', orderState: 'NEW', items }];
  expect(JSON.parse(all.out).files[0].toSend).toEqual(toSend);
  await writeFile(path.join(place.folder, 'known.csv'), fileOf(['PO-1,A,1']));
  expect((await place.run(['check', '--preview', 'known.csv'])).out).not.toContain('First order');
  expect(place.events.filter(({ type }) => type === 'received')).toHaveLength(calls);
});

it('check --preview compares with the ledger only where the API offers no list, and says so', async () => {
  await using place = await openWorkplace({
    faults: { faults: [{ kind: 'answer', on: 'list', status: 403 }] },
  });
  await writeFile(path.join(place.folder, 'new.csv'), fileOf(['PO-1,A,1']));
  const { code, out, err } = await place.run(['check', '--preview', 'new.csv']);
  expect({ code, out, err }).toEqual({
    code: 0,
    err: '',
    out: expect.stringMatching(/ledger \(the API's list: .*\n +1 {2}perhaps new: /),
  });
});

it.each([
  ['answers 500', { kind: 'answer', on: 'list', status: 500 }],
  ['refuses the credentials', { kind: 'answer', on: 'token', status: 401 }],
])('check --preview ends with 1, and says so last, where the API %s', async (_, fault) => {
  await using place = await openWorkplace({ faults: { faults: [fault] } });
  await writeFile(path.join(place.folder, 'new.csv'), fileOf(['PO-1,A,1']));
  const { code, out, err } = await place.run(['check', '--preview', 'new.csv']);
  expect(code).toBe(1);
  expect(out).toContain("Compared with the ledger (the API's list: ");
  expect(out).toContain('1  perhaps new: would be sent, but the API may have them\n');
  expect(err).toMatch(/^The API's list could not be read: .+ Try again\..+\n$/);
  const json = await place.run(['check', '--preview', '--json', 'new.csv']);
  expect({ code: json.code, err: json.err }).toEqual({ code: 1, err: '' });
  const [{ preview }] = JSON.parse(json.out).files;
  expect(preview).toMatchObject({ new: 0, unknown: 1, list: expect.not.stringMatching(/^ok$/) });
  expect(err).toContain(preview.list);
});

it('check --preview says that a number is known in another spelling', async () => {
  await using place = await openWorkplace();
  await place.drop('erp.csv', fileOf(['0088,A,1']));
  await place.run(['start', '--once']);
  await writeFile(
    path.join(place.folder, 'list.csv'),
    fileOf(['88,A,1', 'PO-2,A,1', 'PO-3,A,1', ',A,1', 'Summe,,9']),
  );
  const [{ preview }] = (await place.json('check', '--preview', 'list.csv')).files;
  expect(preview).toMatchObject({ new: 1, conflict: 1, invalid: 3 });
});
