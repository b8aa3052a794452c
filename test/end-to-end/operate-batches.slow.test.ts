import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openOperator } from '../support/operator.ts';
import { until } from '../support/until.ts';
import {
  csvOf,
  type Ended,
  openWorkplace,
  type ReportNow,
  type Running,
  type Workplace,
} from '../support/workplace.ts';

const WRONG = {
  kind: 'answer',
  status: 400,
  message: 'articleCode is invalid',
  orders: ['PO-*'],
  calls: '1-12',
};

type ShownBatch = {
  batch: string;
  file: string;
  state: string;
  waits?: { message: string };
  counts?: { invalid: number };
};

describe('batches of a running daemon', () => {
  const stack = new AsyncDisposableStack();
  let place: Workplace;
  let daemon: Running;

  beforeAll(async () => {
    place = stack.use(
      await openWorkplace({
        faults: { faults: [WRONG] },
        delivery: ', concurrency: 2, refusalHold: { share: 50%, of: 6 }',
      }),
    );
    daemon = place.start(['start']);
    stack.defer(async () => {
      daemon.child.kill('SIGTERM');
      await daemon.ended;
    });
  });
  afterAll(() => stack.disposeAsync());

  const run = (...args: string[]): Promise<Ended> => place.run(args, { USER: 'anna' });

  async function batchOf(file: string): Promise<ShownBatch> {
    const { out } = await run('--json', 'batches', 'list');
    const { batches }: { batches: ShownBatch[] } = JSON.parse(out);
    return batches.find((batch) => batch.file === file) ?? { batch: '', file, state: '' };
  }

  function reportOf(file: string): Promise<ReportNow> {
    return until(`the report of ${file}`, async () =>
      (await place.reportsNow()).find((one) => one.file === file),
    );
  }

  it('a batch whose orders are refused alike is held; release sends the rest', async () => {
    await place.drop('held.csv', csvOf(500));
    await until('the hold', async () => (await batchOf('held.csv')).state === 'waiting');
    const { batch, waits } = await batchOf('held.csv');
    expect(waits?.message).toContain('articleCode is invalid');
    const processing = path.join(place.folder, 'inbox/processing');
    const person = await openOperator(place, daemon);
    const letter = await until('a refused order', async () => {
      const { text } = await person.page(`/dead-letters?batch=${batch}`);
      return /<a href="(\/dead-letters\/[^"]*)">PO-/.exec(text)?.[1];
    });
    const { text: form } = await person.page(letter);
    expect(form).toContain('is finished: it is held until a person releases or cancels it.');
    expect(form).not.toContain('You can also download the fix file');
    expect(await readdir(path.join(processing, batch))).toEqual(['held.csv']);
    const status = (await run('status')).out;
    expect(status).toMatch(new RegExp(`${batch} +held\\.csv +waiting`));
    const id = batch.slice(-8);
    expect(status).toMatch(
      new RegExp(
        `held\\.csv \\(batch ${id}\\) is held; run po-sync batches show ${id}: \\d+ of the last \\d+ answers are the same refusal: `,
      ),
    );
    expect((await run('batches', 'show', batch)).out).toContain(
      `po-sync batches release ${batch.slice(-8)}\n`,
    );
    expect(await run('batches', 'release', batch)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/[^.]\. Release it\?[\s\S]*--yes/),
    });
    // What was refused before the hold already waits for a person, although the report is not written yet.
    const { out } = await run('--json', 'dead-letters', 'list', '--batch', batch);
    expect(JSON.parse(out).deadLetters.length).toBeGreaterThan(3);
    expect(JSON.parse(out).deadLetters[0]).toMatchObject({
      kind: 'refused',
      payload: { orderState: 'NEW' },
      httpStatus: 400,
    });
    const { out: one } = await run('explain', JSON.parse(out).deadLetters[0].purchaseOrderNumber);
    expect(one).toContain(`Its fix file is written when batch ${batch} is finished.`);
    expect(one).toContain(`po-sync batches release ${batch.slice(-8)}`);
    expect(one).not.toContain('Correct the fix file');
    // Other files overtake it, although it fills the queue.
    await place.drop('other.csv', csvOf(20).replaceAll('PO-', 'OTHER-'));
    expect(await reportOf('other.csv')).toMatchObject({ counts: { orders: 20, accepted: 20 } });
    expect(await batchOf('held.csv')).toMatchObject({ state: 'waiting', counts: { orders: 500 } });
    // One release is enough, although the API refuses more orders in the same way.
    await run('batches', 'release', batch, '--yes');
    await until('the end', async () => (await batchOf('held.csv')).state === 'finished');
    const { counts } = await reportOf('held.csv');
    expect(counts.refused).toBeGreaterThan(3);
    expect(counts).toMatchObject({ orders: 500, accepted: 500 - counts.refused });
    expect(await run('batches', 'release', batch, '--yes')).toMatchObject({
      code: 1,
      err: expect.stringContaining('is not held'),
    });
  });

  it('cancel takes back what was never sent, of the queue and of the file, and the report shows it', async () => {
    await run('pause');
    await until('the daemon pauses', () => daemon.out().includes('paused by'));
    await place.drop('wrong.csv', csvOf(1000, 10_001));
    await until(
      'orders in the queue',
      async () => JSON.parse((await run('--json', 'status')).out).queue.unsettledOrders > 0,
    );
    const { batch } = await batchOf('wrong.csv');
    expect(await run('batches', 'release', batch, '--yes')).toMatchObject({
      code: 1,
      err: expect.stringContaining('is not held.'),
    });
    expect(await run('batches', 'cancel', batch, '--dry-run')).toMatchObject({ code: 0 });
    const { code, out } = await run('batches', 'cancel', batch, '--yes');
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringMatching(
        /^[\d,]+ orders of "wrong\.csv" cancelled[\s\S]*To send the cancelled orders after all, drop the complete file again/,
      ),
    });
    // The daemon cancels the rest of the file: the number includes it, or the text says that it is still to come.
    expect(out).toMatch(/^1,000 orders|the rest of the file is cancelled as it is read/);
    const { counts, open } = await reportOf('wrong.csv');
    expect({ counts, open }).toMatchObject({
      counts: { orders: 1000, cancelled: 1000, accepted: 0 },
      open: 0,
    });
    expect([...place.stored().keys()].filter((number) => number.startsWith('PO-1000'))).toEqual([]);
    await until(
      'the end of the batch',
      async () => (await batchOf('wrong.csv')).state === 'finished',
    );
    expect(await run('batches', 'cancel', batch, '--yes')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/is finished[\s\S]*none of its orders waits/),
    });
    const person = await openOperator(place, daemon);
    // The first was in the queue, the last was not read.
    for (const [number, line] of [
      ['PO-10001', 2],
      ['PO-11000', 1001],
    ]) {
      const { text } = await person.page(`/order?number=${number}`);
      expect(text.replace(/<[^>]*>/g, '')).toMatch(
        new RegExp(
          `cancelled[\\s\\S]*wrong\\.csv \\(source inbox\\), line ${line}[\\s\\S]*cancelled by anna`,
        ),
      );
      expect((await run('explain', String(number))).out).toMatch(/cancelled by anna/);
    }
    await run('resume');
    expect((await run('batches', 'show', batch)).out).toMatch(
      /not sent are cancelled, by anna at 20/,
    );
    // The ledger keeps no action of an order that was never admitted.
    const { out: story } = await run('explain', 'PO-11000');
    expect(story.match(/cancelled by anna/g)).toHaveLength(1);
    // Whoever cancelled it by mistake reads how to send it.
    for (const text of [story, (await run('batches', 'show', batch)).out])
      expect(text).toContain(
        'To send the cancelled orders after all, drop the complete file again.',
      );
  });

  it('cancel of a batch of which orders were sent ends with 2 and counts them, and all that is cancelled', async () => {
    await place.drop('late.csv', csvOf(3000, 20_001));
    const { batch } = await until('an accepted order', async () => {
      const { out } = await run('--json', 'batches', 'list');
      const { batches }: { batches: (ShownBatch & { counts: { accepted: number } })[] } =
        JSON.parse(out);
      return batches.find(({ file, counts }) => file === 'late.csv' && counts.accepted > 0);
    });
    await run('pause');
    const { code, out } = await run('--json', 'batches', 'cancel', batch, '--yes');
    const told: { cancelled: number; accepted: number; reading: boolean } = JSON.parse(out);
    await run('resume');
    const { counts } = await reportOf('late.csv');
    expect(code).toBe(2);
    expect(told.accepted).toBeGreaterThan(0);
    if (!told.reading) expect(told.cancelled).toBe(counts.cancelled);
    expect(counts.accepted + counts.cancelled).toBe(3000);
    const person = await openOperator(place, daemon);
    const said =
      / orders? of this file (?:was|were) accepted\. po-sync cannot withdraw .*: if the file was wrong,/;
    await until('the page', async () => said.test((await person.page(`/batches/${batch}`)).text));
  });

  it('what was cancelled may come again in another file', async () => {
    await place.drop('right.csv', csvOf(5, 10_001));
    expect(await reportOf('right.csv')).toMatchObject({ counts: { orders: 5, accepted: 5 } });
    const { page } = await openOperator(place, daemon);
    const history = (await page('/order?number=PO-10001')).text.replace(/<[^>]*>/g, '');
    expect(history).toMatch(
      /wrong\.csv \(source inbox\), line 2[\s\S]*cancelled by anna[\s\S]*right\.csv \(source inbox\), line 2[\s\S]*accepted/,
    );
  });
});

it('start --once ends with 2 when a batch is held, also with its file half read', async () => {
  await using place = await openWorkplace({
    faults: { faults: [{ ...WRONG, calls: '1-500' }] },
    delivery: ', concurrency: 2, refusalHold: { share: 50%, of: 6 }',
  });
  await place.drop('held.csv', csvOf(500));
  const { code, out } = await place.run(['--json', 'start', '--once']);
  expect(code).toBe(2);
  expect(JSON.parse(out)).toMatchObject({ end: 'held' });
  const { out: told } = await place.run(['--json', 'batches', 'list']);
  const [held] = JSON.parse(told).batches;
  expect(held).toMatchObject({ state: 'waiting', counts: { orders: 500 } });
});
