import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OrderContent } from '../../src/operate/orders/order-content.ts';
import { openOperator } from '../support/operator.ts';
import { until } from '../support/until.ts';
import { openWebServer } from '../support/web-server.ts';
import { finishedReport } from '../support/week.ts';
import { openWorkplace, type Running, type Workplace } from '../support/workplace.ts';

const HEAD = 'purchaseOrderNumber,articleCode,quantity\n';
const EXPORT = '- { name: erp, type: export, path: erp.csv, stable: 100ms, poll: 200ms }';

const writeExport = (place: Workplace, rows: string) =>
  writeFile(path.join(place.folder, 'erp.csv'), HEAD + rows);

/** The report of a version of an export that has so many orders, when it is finished. */
const versionOf = (place: Workplace, orders: number) =>
  until(`the version with ${orders} orders`, async () =>
    (await place.reportsNow()).find(({ file, finishedAt, counts }) => {
      return file === 'erp.csv' && finishedAt !== null && counts.orders === orders;
    }),
  );

/** The name of the only batch, which has no report yet. */
const batchOf = (place: Workplace) =>
  until('the batch', async () => {
    const { out } = await place.run(['batches', 'list', '--json']);
    return (JSON.parse(out) as { batches: { batch: string }[] }).batches[0]?.batch;
  });

async function contentOf(place: Workplace, number: string): Promise<OrderContent> {
  return until('an answer in time', async () => {
    const { out } = await place.run(['explain', number, '--json']);
    const { content } = JSON.parse(out) as { content: OrderContent };
    return content.status === 'late' ? undefined : content;
  });
}

/** The articles and quantities of accepted orders, as `explain` shows them. */
async function itemsOf(place: Workplace, numbers: readonly string[]): Promise<string[]> {
  const found = await Promise.all(numbers.map((number) => contentOf(place, number)));
  return found.flatMap(({ items = [] }, i) =>
    items.map(({ articleCode, quantity }) => `${numbers[i]} ${articleCode} ${quantity}`),
  );
}

async function stop(daemon: Running): Promise<void> {
  daemon.child.kill('SIGTERM');
  await daemon.ended;
}

describe('the items of accepted orders', () => {
  let place: Workplace;
  let server: Awaited<ReturnType<typeof openWebServer>>;
  let daemon: Running;

  beforeAll(async () => {
    server = await openWebServer((_, response) => void response.end(`${HEAD}W-1,NUT,7\n`));
    const web = `- { name: web, type: export, path: 'http://127.0.0.1:${server.port}/web.csv', poll: 200ms }`;
    const inbox = '- { name: inbox, type: inbox, path: inbox, stable: 100ms, poll: 200ms }';
    const refusal = {
      kind: 'answer',
      status: 400,
      message: 'NUT is unknown',
      orders: ['E-2'],
      attempts: '1',
    };
    place = await openWorkplace({
      source: [inbox, EXPORT, web].join('\n  '),
      faults: { faults: [refusal] },
    });
    daemon = place.spawn(['start']);
    await place.drop('orders.csv', `${HEAD}I-1,A,1\n`);
    await writeExport(place, 'E-1,BOLT,5\nE-2,NUT,1\nE-1,B,2\nE-3,C,none\n');
    await finishedReport(place, 'orders.csv');
    await finishedReport(place, 'web.csv');
    await versionOf(place, 3);
    await place.run(['dead-letters', 'retry', '--order', 'E-2', '--yes']);
    await until('the second attempt', () => place.stored().has('E-2'));
    await correct();
    await finishedReport(place, 'erp.line-5.correction.json');
  });
  afterAll(async () => {
    await place[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  /** Enters the quantity of the order that failed a check, once the page has it. */
  async function correct(): Promise<void> {
    const { call } = await openOperator(place, daemon);
    const id = await until('the dead letter', async () => {
      const items = ((await call('GET', '/dead-letters/list')).body['deadLetters'] ?? []) as Record<
        string,
        string
      >[];
      return items.find(
        (one) => one['purchaseOrderNumber'] === 'E-3' && !one['id']?.includes('#'),
      )?.['id'];
    });
    const rows = [{ row: 1, cells: { quantity: '3' } }];
    expect((await call('POST', '/dead-letters/correct', { id, rows })).body).toMatchObject({
      sent: true,
    });
  }

  const NUMBERS = ['E-1', 'E-2', 'E-3', 'I-1', 'W-1'];
  const ITEMS = ['E-1 BOLT 5', 'E-1 B 2', 'E-2 NUT 1', 'E-3 C 3', 'I-1 A 1', 'W-1 NUT 7'];

  it('are those of an inbox, of a web address, and of an export, also of orders that were sent again or corrected, also after a restart', async () => {
    expect(await itemsOf(place, NUMBERS)).toEqual(ITEMS);
    await stop(daemon);
    daemon = place.spawn(['start']);
    expect(await itemsOf(place, NUMBERS)).toEqual(ITEMS);
  });

  it('are those of new orders of a later version, whose report keeps no others', async () => {
    await writeExport(place, 'E-1,BOLT,5\nE-2,NUT,1\nE-1,B,2\nE-3,C,none\nE-4,D,4\n');
    const report = await versionOf(place, 4);
    const kept = JSON.parse(await place.read(report, 'items.json')) as unknown;
    expect(kept).toEqual([
      { purchaseOrderNumber: 'E-4', line: 6, items: [{ articleCode: 'D', quantity: 4 }] },
    ]);
    expect(await itemsOf(place, [...NUMBERS, 'E-4'])).toEqual([...ITEMS, 'E-4 D 4']);
    await writeExport(place, 'E-1,BOLT,5\nE-1,B,2\n');
    await expect(place.read(await versionOf(place, 1), 'items.json')).rejects.toThrow('ENOENT');
    const inbox = await finishedReport(place, 'orders.csv');
    await expect(place.read(inbox, 'items.json')).rejects.toThrow('ENOENT');
  });

  it('are missing where the file of the report is gone or says something else', async () => {
    const file = path.join(
      place.folder,
      'reports',
      (await versionOf(place, 3)).batch,
      'items.json',
    );
    await writeFile(file, (await readFile(file, 'utf8')).replace('"quantity":1', '"quantity":9'));
    expect(await contentOf(place, 'E-2')).toMatchObject({ status: 'differs' });
    await rm(file);
    expect(await contentOf(place, 'E-1')).toEqual({
      status: 'missing',
      message: expect.stringContaining('the report has no items of this order'),
      batch: (await versionOf(place, 3)).batch,
    });
  });
});

describe('explain', () => {
  it('shows what was ordered and, of a conflict, what the export says now', async () => {
    await using place = await openWorkplace({ source: EXPORT });
    await writeExport(place, 'E-1,BOLT,5\n');
    await place.run(['start', '--once']);
    await writeExport(place, 'E-1,BOLT,6\n');
    expect(await place.run(['start', '--once'])).toMatchObject({ code: 2 });
    const [first] = await place.reportsNow();
    expect(await contentOf(place, 'E-1')).toMatchObject({
      status: 'sent',
      items: [{ articleCode: 'BOLT', quantity: 5 }],
      line: 2,
      batch: first?.batch,
    });
    const { out } = await place.run(['explain', 'E-1']);
    expect(out).toContain('5 × BOLT');
    expect(out.replace(/\s+/g, ' ')).toContain('As sent: line 2 of erp.csv, as kept in ');
    const { out: list } = await place.run(['dead-letters', 'list', '--json']);
    const known = { items: [{ articleCode: 'BOLT', quantity: 5 }] };
    const payload = { items: [{ articleCode: 'BOLT', quantity: 6 }] };
    expect(JSON.parse(list)).toMatchObject({ deadLetters: [{ kind: 'conflict', payload, known }] });
  });

  it('shows those of an order of an export that was cancelled', async () => {
    await using place = await openWorkplace({ source: EXPORT });
    await place.run(['pause', '--reason', 'test']);
    await writeExport(place, 'E-1,BOLT,5\n');
    const daemon = place.start(['start']);
    const batch = await batchOf(place);
    await until(
      'its order',
      async () => (await contentOf(place, 'E-1').catch(() => undefined))?.status === 'ledger',
    );
    await place.run(['batches', 'cancel', batch, '--yes']);
    await versionOf(place, 1);
    daemon.child.kill('SIGTERM');
    await daemon.ended;
    const items = [{ articleCode: 'BOLT', quantity: 5 }];
    expect(await contentOf(place, 'E-1')).toMatchObject({ status: 'unproven', items });
  });
});

it('an export whose daemon is killed with kill -9 before its report keeps the items of its orders, each once', async () => {
  await using place = await openWorkplace({ source: EXPORT });
  await place.run(['pause', '--reason', 'test']);
  await writeExport(place, 'E-1,BOLT,5\nE-2,NUT,1\n');
  const first = place.spawn(['start']);
  // Only its own report is prevented: a version is not claimed where the journal of decisions cannot be written.
  const report = path.join(place.reports, await batchOf(place));
  await writeFile(report, 'in the way');
  expect(await place.run(['resume'])).toMatchObject({ code: 0 });
  await until(
    'the report that fails',
    () => place.stored().size === 2 && first.out().includes('"batch-trouble"'),
  );
  first.child.kill('SIGKILL');
  await first.ended;
  await rm(report);
  const second = place.spawn(['start']);
  await versionOf(place, 2);
  expect(await itemsOf(place, ['E-1', 'E-2'])).toEqual(['E-1 BOLT 5', 'E-2 NUT 1']);
  expect(new Set(place.stored().values())).toEqual(new Set([1]));
  await until('the copy to be removed', async () => {
    return (await readdir(path.join(place.folder, 'data', 'spool', 'erp'))).length === 0;
  });
  await stop(second);
});
