import { readdir, readFile, writeFile } from 'node:fs/promises';
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
    expect(status).toContain(
      `held.csv is held; run po-sync batches show ${batch.slice(-8)}: it prints the commands that release or cancel it\n`,
    );
    expect(status).toMatch(/^ {4}\d+ of the last \d+ answers are the same refusal: /m);
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

it('a long file is examined while delivery is paused, and read on when it continues', async () => {
  await using place = await openWorkplace();
  const run = (...args: string[]): Promise<Ended> => place.run(args, { USER: 'anna' });
  await run('pause');
  const daemon = place.start(['start']);
  const lines = csvOf(1000).split('\n');
  const wrong = Array.from({ length: 10 }, (_, i) => 90 * (i + 1));
  for (const line of wrong) lines[line - 1] = `${lines[line - 1]}x`;
  await place.drop('long.csv', lines.join('\n'));
  const batch = await until('every wrong order', async () => {
    const { batches }: { batches: ShownBatch[] } = JSON.parse(
      (await run('--json', 'batches', 'list')).out,
    );
    return batches.find(({ counts }) => counts?.invalid === 10);
  });
  const { out } = await run('--json', 'dead-letters', 'list', '--batch', batch.batch);
  const { deadLetters }: { deadLetters: { location: { line: number }; message: string }[] } =
    JSON.parse(out);
  expect(deadLetters.map(({ location }) => location.line).sort((a, b) => a - b)).toEqual(wrong);
  expect(deadLetters.every(({ message }) => message.endsWith('is not a number'))).toBe(true);
  // No other order is taken out of turn, and all of them are in the figures.
  const { queue } = JSON.parse((await run('--json', 'status')).out);
  expect(queue.unsettledOrders).toBeLessThan(200);
  expect(queue.unsettledOrders + queue.unreadOrders).toBe(990);
  const person = await openOperator(place, daemon);
  const unreadText = queue.unreadOrders.toLocaleString('en');
  // What pages show is a moment old, and a daemon that began just now builds its lists first.
  const shows = (page: string, ...texts: string[]) =>
    until(`${page} says so`, async () => {
      const { text } = await person.page(page);
      return texts.every((one) => text.includes(one));
    });
  const waits = `the end of the pause (${unreadText} more are read then)`;
  await shows('/', `${unreadText} more not read yet`, waits);
  const wrongOrder = (await person.page(`/order?number=PO-${(wrong[0] ?? 0) - 1}`)).text;
  expect(wrongOrder).toMatch(/line \d+, quantity &quot;\d*x&quot;: is not a number/);
  expect((await run('explain', 'PO-9999')).err).toContain('not found');
  await writeFile(path.join(place.folder, 'again.csv'), csvOf(20));
  const preview = await run('check', '--preview', 'again.csv');
  expect(preview.out).toMatch(/ 20 {2}duplicate/);
  const { text } = await person.upload('again.csv', csvOf(20));
  expect(text).toContain('<b>20</b>duplicate: not sent');
  await run('resume');
  const { counts } = await until('the report', async () =>
    (await place.reportsNow()).find(({ state }) => state !== 'unreadable'),
  );
  expect(counts).toMatchObject({ orders: 1000, accepted: 990, invalid: 10 });
  expect(place.stored().size).toBe(990);
  expect([...place.stored().values()].every((times) => times === 1)).toBe(true);
  const logged = daemon
    .out()
    .split('\n')
    .filter((line) => line.includes('order needs a person') && line.includes(batch.batch));
  expect(logged).toHaveLength(10);
});

it('of a held file that was cancelled, the corrected file settles the refused orders and sends the others', async () => {
  await using place = await openWorkplace({
    faults: {
      faults: [{ kind: 'answer', status: 400, message: 'no such article', articles: ['OLD'] }],
    },
    delivery: ', concurrency: 2, refusalHold: { share: 50%, of: 6 }',
  });
  place.start(['start']);
  const list = (article: string) =>
    `${csvOf(2)}${Array.from({ length: 40 }, (_, i) => `OLD-${i},NEW,${article},1\n`).join('')}`;
  await place.drop('held.csv', list('OLD'));
  const held = await until('the hold', async () => {
    const { batches }: { batches: ShownBatch[] } = await place.json('batches', 'list');
    return batches.find(({ state }) => state === 'waiting');
  });
  await place.run(['batches', 'cancel', held.batch, '--yes']);
  const finished = (file: string) =>
    until(file, async () => (await place.reportsNow()).find((one) => one.file === file));
  expect((await finished('held.csv')).open).toBeGreaterThan(0);
  await place.drop('corrected.csv', list('NEW'));
  expect(await finished('corrected.csv')).toMatchObject({ open: 0 });
  await until('nothing to do', async () => (await finished('held.csv')).open === 0);
  expect([...place.stored().values()]).toEqual(Array.from({ length: 42 }, () => 1));
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
  // Each of its orders is in one count.
  const { waits } = await place.json('status');
  const [wait] = waits.filter((one: { for: string }) => one.for === 'release');
  const { refused, accepted } = held.counts;
  expect(wait.unread).toBeGreaterThan(0);
  expect(wait.orders + wait.unread + refused + accepted).toBe(500);
  const { out: text } = await place.run(['status']);
  const all = wait.orders + wait.unread;
  expect(text).toContain(`${wait.unread} more not read yet: ${all} wait in all`);
  expect(text).toContain(`the release of its batch (${wait.unread} more are read then)`);
  const id = held.batch.slice(-8);
  const { out: before } = await place.run(['batches', 'release', id, '--dry-run']);
  expect(before.replaceAll(/\s+/g, ' ')).toContain(
    `Orders that the API refused are sent again by po-sync dead-letters retry --batch ${id}.`,
  );
  await place.run(['dead-letters', 'retry', '--batch', id, '--yes']);
  const { waits: now, sentAgain } = await place.json('status');
  expect(now).toMatchObject([
    { for: 'release', orders: wait.orders + refused, unread: wait.unread },
  ]);
  expect([now.length, sentAgain]).toEqual([1, refused]);
  expect((await place.run(['status'])).out).toMatch(
    new RegExp(
      `dead letters  ${refused} sent again, without an outcome yet; run po-sync dead-letters list`,
    ),
  );
  const { out: released } = await place.run(['batches', 'release', id, '--yes']);
  expect(released).toBe(`Batch ${held.batch} is released.
`);
});

it('a held batch whose refused orders were sent again and accepted ends without a person', async () => {
  await using place = await openWorkplace({
    faults: { faults: [WRONG] },
    sandbox: { record: true },
    delivery: ', concurrency: 2, refusalHold: { share: 50%, of: 6 }',
  });
  await place.drop('held.csv', csvOf(30));
  expect((await place.run(['start', '--once'])).code).toBe(2);
  await place.setFaults([]);
  await place.run(['dead-letters', 'retry', '--kind', 'refused', '--yes']);
  const [held] = (await place.json('batches', 'list')).batches;
  await place.run(['batches', 'release', held.batch, '--yes']);
  const { code, out } = await place.run(['start', '--once']);
  const finished = out.split('\n').find((line) => line.includes('"batch-finished"')) ?? '{}';
  expect({ code, ...JSON.parse(finished) }).toMatchObject({
    code: 0,
    level: 'info',
    needPerson: 0,
  });
  const [{ counts, open, settled }] = (await place.json('batches', 'list')).batches;
  expect([open, settled]).toEqual([0, counts.refused]);
  expect((await place.run(['batches', 'list'])).out).toMatch(
    new RegExp(`open +settled +taken\n.* 30/30 +${30 - settled} +0 +${settled} `),
  );
});

it('a batch that was cancelled while no daemon ran stays cancelled when the API has another address', async () => {
  await using place = await openWorkplace();
  await place.run(['pause', '--reason', 'the API moves']);
  const daemon = place.start(['start']);
  await place.drop('orders.csv', csvOf(30));
  const shown = await until('the orders', async () => {
    const { batches }: { batches: { batch: string; state: string }[] } = await place.json(
      'batches',
      'list',
    );
    return batches.find(({ state }) => state !== 'reading');
  });
  daemon.child.kill('SIGTERM');
  await daemon.ended;
  expect((await place.run(['batches', 'cancel', shown.batch, '--yes'])).out).toContain('30 orders');
  expect((await place.run(['batches', 'list'])).out).toContain('being cancelled');
  const [, number = ''] = csvOf(1).match(/^(PO-\d+),/m) ?? [];
  expect((await place.run(['explain', number])).out).toMatch(new RegExp(`^${number}  cancelled\n`));

  const config = await readFile(place.config, 'utf8');
  await writeFile(
    place.config,
    config.replace(/(baseUrl: '?http:\/\/)127\.0\.0\.1/, '$1localhost'),
  );
  expect(await readFile(place.config, 'utf8')).not.toBe(config);
  // The pause would last there, too.
  await place.run(['resume']);
  await place.run(['start', '--once', '--same-api', '--max-wait', '10m']);
  const [report] = await place.reportsNow();
  expect({
    state: report?.state,
    counts: report?.counts,
    stored: place.stored().size,
  }).toMatchObject({
    state: 'cancelled',
    counts: { cancelled: 30 },
    stored: 0,
  });
});

it('an order that was refused before its file was cancelled is sent again when a person wants that, also after the end of the file', async () => {
  const no = { kind: 'answer', status: 400, message: 'no', orders: ['PO-1'] };
  const away = { kind: 'answer', status: 503, orders: ['PO-2', 'PO-3'] };
  await using place = await openWorkplace({
    faults: { faults: [no, away] },
    sandbox: { record: true },
  });
  place.start(['start']);
  await place.drop('r.csv', csvOf(3));
  const shown = async () => (await place.json('batches', 'list')).batches?.[0];
  await until('the refusal', async () => ((await shown())?.counts?.refused ?? 0) > 0);
  expect((await place.run(['batches', 'cancel', 'r.csv', '--yes'])).out).toMatch(
    /^2 orders of \S+ cancelled\./,
  );
  await until('the end of the file', async () => (await shown())?.state === 'finished');
  await place.setFaults([]);
  expect((await place.run(['dead-letters', 'retry', '--order', 'PO-1', '--yes'])).code).toBe(0);
  await until('the order', () => place.stored().get('PO-1') === 1);
  await until('its dead letter is closed', async () => (await shown())?.open === 0);
  expect([...place.stored().keys()]).toEqual(['PO-1']);
});
