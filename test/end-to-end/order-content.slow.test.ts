import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFileSearch } from '../../src/operate/orders/file-search.ts';
import type { FoundInFile } from '../../src/operate/orders/find-in-file.ts';
import type { OrderContent } from '../../src/operate/orders/order-content.ts';
import { openFixPlace as openWorkplace } from '../support/fix-as-text.ts';
import { openOperator } from '../support/operator.ts';
import { until } from '../support/until.ts';
import type { Workplace } from '../support/workplace.ts';
import { textRows, writeWorkbook } from '../support/write-workbook.ts';

const HEAD = 'purchaseOrderNumber,articleCode,quantity\n';
const MAPPING = `mappings:
  own:
    columns:
      purchaseOrderNumber: { is: purchaseOrderNumber }
      articleCode: { is: articleCode }
      quantity: { is: quantity }
      pieces: ignore
  orders:
    items: items
    columns:
      purchaseOrderNumber: { is: purchaseOrderNumber }
      items.articleCode: { is: articleCode }
      items.quantity: { is: quantity }
`;
const SOURCE =
  '- { name: inbox, type: inbox, path: inbox, mapping: [own, orders], stable: 100ms, poll: 200ms }';

/** The items of an order as `explain --json` shows them; asks again where the machine was too slow. */
async function contentOf(place: Workplace, number: string): Promise<OrderContent> {
  const { content } = await until('an answer in time', async () => {
    const { out } = await place.run(['explain', number, '--json']);
    const history = JSON.parse(out) as { content: OrderContent };
    return (history.content as OrderContent | undefined)?.status === 'late' ? undefined : history;
  });
  return content;
}

async function settledFile(place: Workplace, name: string): Promise<string> {
  const done = path.join(place.inbox, 'done');
  const [day = ''] = await readdir(done);
  return path.join(done, day, name);
}

const once = (place: Workplace) => place.run(['start', '--once']);

describe('the items of an accepted order', () => {
  let place: Workplace;

  beforeAll(async () => {
    place = await openWorkplace({ more: MAPPING, source: SOURCE });
    await place.drop('apart.csv', `${HEAD}C-1,A,1\nC-2,A,5\nC-1,B,2\n`);
    await place.drop(
      'book.xlsx',
      await writeWorkbook(textRows([...rowsOf('X-1', 'BOLT', '4'), ['X-2', 'NUT', '3']])),
    );
    const items = [{ articleCode: 'J', quantity: 2 }];
    await place.drop('list.json', JSON.stringify([{ purchaseOrderNumber: 'J-1', items }]));
    await place.drop('more.csv', 'purchaseOrderNumber,articleCode,quantity,pieces\nM-1,A,1,2\n');
    await place.drop('fix.csv', `${HEAD}F-1,A,none\nF-2,A,1\n`);
    await place.drop(
      'fix.json',
      JSON.stringify([
        { purchaseOrderNumber: 'G-1', items: [{ articleCode: 'G' }] },
        { purchaseOrderNumber: 'G-2', items },
      ]),
    );
    await once(place);
  });
  afterAll(() => place[Symbol.asyncDispose]());

  it.each([
    [
      'C-1',
      'apart.csv',
      2,
      [
        ['A', 1],
        ['B', 2],
      ],
    ],
    ['C-2', 'apart.csv', 3, [['A', 5]]],
    ['X-2', 'book.xlsx', 3, [['NUT', 3]]],
    ['J-1', 'list.json', 1, [['J', 2]]],
  ] as const)('of %s are read from %s', async (number, file, line, items) => {
    expect(await contentOf(place, number)).toMatchObject({
      status: 'sent',
      path: await settledFile(place, file),
      line,
      items: items.map(([articleCode, quantity]) => ({ articleCode, quantity })),
    });
  });

  it('are shown as text, with the line and the file', async () => {
    const { out } = await place.run(['explain', 'C-1']);
    const file = await settledFile(place, 'apart.csv');
    expect(out).toContain(`C-1  accepted\n  1 × A\n  2 × B\n  As sent: lines 2, 4 of ${file}.\n`);
    expect(out).toContain('in apart.csv (source inbox), lines 2, 4, batch ');
  });

  it('of a corrected order are those of the fix file, and a duplicate changes nothing', async () => {
    const reports = await place.reportsNow();
    for (const [file, name, from, to] of [
      ['fix.csv', 'back.csv.xlsx', 'none', '7'],
      ['fix.json', 'back.json.xlsx', 'G,,', 'G,7,'],
    ] as const) {
      const report = reports.find((one) => one.file === file);
      if (report === undefined) throw new Error(`${file} has no report`);
      const fix = await place.read(report, 'fix.xlsx');
      expect(fix).toContain(from);
      await place.drop(name, fix.replace(from, to));
    }
    await place.drop('again.csv', `${HEAD}C-2,A,5\n`);
    await once(place);
    for (const [number, article, file] of [
      ['F-1', 'A', 'back.csv.xlsx'],
      ['G-1', 'G', 'back.json.xlsx'],
    ] as const) {
      const items = [{ articleCode: article, quantity: 7 }];
      expect(await contentOf(place, number)).toMatchObject({
        status: 'sent',
        path: await settledFile(place, file),
        items,
      });
    }
    expect(await contentOf(place, 'C-2')).toMatchObject({
      status: 'sent',
      path: await settledFile(place, 'apart.csv'),
    });
  });

  it('are not shown as sent when the mapping reads the unchanged file otherwise', async () => {
    const config = await readFile(place.config, 'utf8');
    await writeFile(
      place.config,
      config
        .replace('quantity: { is: quantity }', 'quantity: ignore')
        .replace('pieces: ignore', 'pieces: { is: quantity }'),
    );
    try {
      const content = await contentOf(place, 'M-1');
      expect(content).toMatchObject({
        status: 'differs',
        message: expect.stringContaining('its mapping'),
      });
      expect(content).not.toHaveProperty('items');
    } finally {
      await writeFile(place.config, config);
    }
    expect(await contentOf(place, 'M-1')).toMatchObject({ status: 'sent' });
  });
});

const rowsOf = (number: string, article: string, quantity: string) => [
  ['purchaseOrderNumber', 'articleCode', 'quantity'],
  [number, article, quantity],
];

describe('the file of an accepted order', () => {
  let place: Workplace;
  let file = '';
  const original = `${HEAD}H-1,A,1\nH-2,SECRET-ARTICLE,2\n`;

  beforeAll(async () => {
    place = await openWorkplace();
    await place.drop('orders.csv', original);
    await once(place);
    file = await settledFile(place, 'orders.csv');
  });
  afterAll(() => place[Symbol.asyncDispose]());

  async function replaced(replace: () => Promise<unknown>): Promise<OrderContent> {
    await rm(file, { recursive: true, force: true });
    await replace();
    return contentOf(place, 'H-1');
  }

  it('that is gone is named with the place where it was', async () => {
    const content = await replaced(async () => undefined);
    expect(content).toMatchObject({
      status: 'missing',
      path: file,
      message: `The file is no longer at ${file}.`,
    });
  });

  it('that somebody changed does not stand for what was sent', async () => {
    const content = await replaced(() => writeFile(file, original.replace('H-1,A,1', 'H-1,A,9')));
    expect(content).toMatchObject({
      status: 'differs',
      message: expect.stringContaining('the file was changed'),
    });
    expect(content).not.toHaveProperty('items');
  });

  it('that was changed elsewhere still proves an order with the digest of what was sent', async () => {
    const content = await replaced(() => writeFile(file, `${HEAD}O-1,B,1\nH-1,A,1\n`));
    expect(content).toMatchObject({
      status: 'sent',
      line: 3,
      items: [{ articleCode: 'A', quantity: 1 }],
    });
  });

  it('is not followed when it is a link, and neither is a folder above it', async () => {
    const secret = path.join(place.folder, 'secret.csv');
    await writeFile(secret, original);
    expect(await replaced(() => symlink(secret, file))).toMatchObject({
      status: 'unreadable',
      path: file,
    });
    const day = path.dirname(file);
    const elsewhere = path.join(place.folder, 'elsewhere');
    await mkdir(elsewhere);
    await writeFile(path.join(elsewhere, 'orders.csv'), original);
    await rename(day, `${day}-moved`);
    await symlink(elsewhere, day);
    expect(await contentOf(place, 'H-1')).toMatchObject({ status: 'unreadable' });
    await rm(day);
    await rename(`${day}-moved`, day);
  });

  it('that is something else now is not quoted', async () => {
    const content = await replaced(() => writeFile(file, 'password: hunter2\n"broken'));
    expect(content.status).toMatch(/unreadable|differs/);
    expect(JSON.stringify(content)).not.toContain('hunter2');
    expect(await replaced(() => mkdir(file))).toMatchObject({ status: 'unreadable' });
  });
});

describe('an order that po-sync did not send', () => {
  it('shows those that a file brought and the API had before, and none without that file', async () => {
    await using place = await openWorkplace();
    const items = [{ articleCode: 'Z', quantity: 3 }];
    await place.api.create(
      { purchaseOrderNumber: 'L-1', orderState: 'NEW', items },
      await place.api.token(),
    );
    await place.drop('orders.csv', `${HEAD}L-1,Z,3\n`);
    await once(place);
    const message = expect.stringMatching(
      /^The API has the same items as line 2 of .* No report says that po-sync sent/,
    );
    expect(await contentOf(place, 'L-1')).toMatchObject({ status: 'equal', items, message });
    await rm(await settledFile(place, 'orders.csv'));
    expect(await contentOf(place, 'L-1')).toMatchObject({ status: 'unknown' });
  });
});

describe('the order page', () => {
  it('says that it searches order numbers, not articles', async () => {
    await using place = await openWorkplace();
    const person = await openOperator(place, place.start(['start']));
    for (const path of ['/order', '/order?number=ART-7'])
      expect((await person.page(path)).text).toContain(
        'Only order numbers are searched, not articles.',
      );
  });
});

describe('the search for an order in its file', () => {
  const wanted = { number: 'A1', kind: 'handed-in', path: '/none', source: 'inbox' } as const;
  const never = () => new Promise<FoundInFile>(() => undefined);

  it('ends when its time is over, and one read that never ends keeps others from starting', async () => {
    let reads = 0;
    const search = createFileSearch(() => {
      reads += 1;
      return never();
    }, 50);
    expect(await Promise.all([search(wanted), search(wanted)])).toEqual([
      { found: 'late' },
      { found: 'busy' },
    ]);
    expect(await search(wanted)).toEqual({ found: 'busy' });
    expect(reads).toBe(1);
  });
});
