import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { openOperator } from '../support/operator.ts';
import { plain } from '../support/plain.ts';
import { rowsIn } from '../support/rows-in.ts';
import { until } from '../support/until.ts';
import { finishedReport, settleWeek, sheet } from '../support/week.ts';
import { openWorkplace } from '../support/workplace.ts';

it('orders that need a person, and corrections, are spreadsheets with the filters of their pages', async () => {
  const refusal = {
    kind: 'answer',
    status: 400,
    message: 'articleCode X is unknown',
    orders: ['PO-2'],
    attempts: '1',
  };
  await using place = await openWorkplace({ faults: { faults: [refusal] } });
  const person = await openOperator(place, place.start(['start']));
  const week = ['PO-1,NEW,A,1', 'PO-2,NEW,X,2', 'PO-3,NEW,A,none', 'PO-4,NEW,A,'];
  await settleWeek(place, week, (fix) => fix.replace('none', '7'));
  // The only other attempt is the refusal, which the page shows.
  const { text: history } = await person.page('/order?number=PO-2');
  expect(history).toMatch(/accepted(?: by the API)? on attempt 2; the first was refused</);
  expect(history).not.toContain('tried again automatically');
  const none = await person.page('/dead-letters?q=nowhere');
  const [, noRows = ''] =
    /href="([^"]*)">Download this empty list as a spreadsheet</.exec(none.text) ?? [];
  expect((await rowsIn(person, plain(noRows))).rows).toHaveLength(1);
  await place.drop(
    'open.csv',
    sheet('=1+1,NEW,A,"none → 1"', 'PO-6,NEW,A,none', 'PO-2,NEW,X,none', 'PO-1,NEW,A,9'),
  );
  await finishedReport(place, 'open.csv');
  await until('the lists', async () => {
    const all = await Promise.all(
      ['/dead-letters', '/corrections'].map((path) => person.call('GET', path)),
    );
    // Items of orders that failed a check, and what was changed, are known with the report.
    const [open, closed] = all.map(({ body }) => JSON.stringify(body['items']));
    const isRead =
      open?.match(/"items":/g)?.length === 4 && closed?.includes('"changes":[{') === true;
    return isRead && all.map(({ body }) => body['total']).join() === '4,3';
  });

  const { text } = await person.page('/dead-letters?q=open&kind=invalid');
  const [, path = ''] = /href="([^"]*)">Download all that match as a spreadsheet</.exec(text) ?? [];
  const open = await rowsIn(person, plain(path));
  expect(open.name).toBe('attachment; filename="orders-that-need-you.xlsx"');
  const [head, first, , known] = open.rows;
  expect(head).toEqual(
    'Order number,Line,File,Kind,Column,Value,What is wrong@ and what to enter,Items,In another file,Last (UTC),Batch'
      .split(',')
      .map((title) => title.replace('@', ',')),
  );
  const wrong = '"none → 1" is not a number; enter digits only, such as 12';
  expect(first?.slice(0, 7)).toEqual([
    '=1+1',
    '#2',
    'open.csv',
    'invalid',
    'quantity',
    'none → 1',
    wrong,
  ]);
  expect(first?.[7]).toBe('A × none → 1');
  expect(known?.[8]).toBe('this number is already accepted from "=week.csv", as X × 2');
  expect(
    (await rowsIn(person, '/api/v1/dead-letters.xlsx?q=PO-6')).rows
      .slice(1)
      .map(([number]) => number),
  ).toEqual(['PO-6']);

  const page = await person.page('/corrections?q=PO-3&zone=Europe/Berlin');
  const [, list = ''] = /href="([^"]*)">as a spreadsheet</.exec(page.text) ?? [];
  const { rows, name } = await rowsIn(person, plain(list));
  expect(name).toBe('attachment; filename="corrections.xlsx"');
  expect([rows.length, rows[0]?.[0]]).toEqual([2, 'Settled (Europe/Berlin)']);
  expect(rows[1]?.slice(2, 7)).toEqual(['PO-3', '', '#4', '=week.csv', 'invalid']);
  expect(rows[1]?.slice(8, 11)).toEqual(['accepted', 'fix.csv', 'quantity: none → 7']);
  const empty = (await rowsIn(person, '/api/v1/corrections.xlsx?q=PO-4')).rows[1];
  expect(empty?.[7]).toBe('quantity is empty; enter a value');
  for (const at of ['corrections', 'dead-letters'])
    expect((await person.call('GET', `/${at}.xlsx?zone=Mars`)).body['code']).toBe(
      'parameter-wrong',
    );

  const { batch } = await finishedReport(place, '=week.csv');
  const { batch: last } = await finishedReport(place, 'open.csv');
  const nameOf = async (of: string, file: string) => {
    const reply = await fetch(
      `http://127.0.0.1:${person.port}/api/v1/batches/${of}/files/${file}`,
      {
        headers: { cookie: person.cookie, connection: 'close' },
      },
    );
    await reply.arrayBuffer();
    return reply.headers.get('content-disposition');
  };
  expect(await nameOf(last, 'dead-letters.xlsx')).toBe('attachment; filename="open.csv.fix.xlsx"');
  expect(await nameOf(batch, 'results.csv')).toBe(
    'attachment; filename="_week.csv.results.csv"; filename*=UTF-8\'\'%3Dweek.csv.results.csv',
  );
  expect(await nameOf(last, 'report.html')).toBe('attachment; filename="open.csv.report.html"');
  expect((await person.page(`/batches/${last}`)).text).toContain('>fix file open.csv.fix.xlsx</a>');

  const differs = 'this number is known with A × 1, and this file has A × 9';
  const conflict = (await rowsIn(person, '/api/v1/dead-letters.xlsx?kind=conflict')).rows[1];
  expect(conflict?.slice(7, 9)).toEqual(['A × 9', differs]);
  await place.run(['dead-letters', 'discard', '--order', 'PO-1', '--yes']);
  const settled = await until('the conflict', async () => {
    const { body } = await person.call('GET', '/corrections?q=open');
    return body['total'] === 1 && body['items'];
  });
  expect(settled).toMatchObject([{ kind: 'conflict', already: differs }]);
  expect((await rowsIn(person, '/api/v1/corrections.xlsx?q=open')).rows[1]?.slice(8, 11)).toEqual([
    'discarded',
    '',
    differs,
  ]);
  expect((await person.page('/corrections?q=open')).text).toContain(`T${differs.slice(1)}`);

  const { out } = await place.run(['dead-letters', 'discard', '--batch', last, '--dry-run']);
  expect(out).toContain(
    'Those whose number is accepted or in progress cannot be sent again while it is.',
  );
});

it('a correction is not called unrecorded while the file that brought it is in progress', async () => {
  const answer = { kind: 'answer', status: 503, orders: ['PO-2'] };
  await using place = await openWorkplace({
    sandbox: { record: true },
    faults: { faults: [answer] },
  });
  const person = await openOperator(place, place.start(['start']));
  await place.drop('week.csv', sheet('PO-1,NEW,A,none', 'PO-2,NEW,A,none'));
  const fix = await place.read(await finishedReport(place, 'week.csv'), 'dead-letters.csv');
  await place.drop('fix.csv', fix.replaceAll('none', '7'));
  const soon = await until('the correction', async () => {
    const { text } = await person.page('/corrections');
    return text.includes('PO-1') && text;
  });
  expect(soon).toContain('Person and changes are being recorded');
  expect(soon).not.toContain('is not recorded');
  await place.setFaults([]);
  await until(
    'the changes',
    async () => (await person.page('/corrections')).text.match(/none → 7/g)?.length === 2,
  );
});

it('the download of the fix file of a fix file has the name of the copy next to that file', async () => {
  await using place = await openWorkplace();
  const person = await openOperator(place, place.start(['start']));
  await place.drop('week.csv', sheet('PO-1,NEW,A,none', 'PO-2,NEW,A,none'));
  const fix = await place.read(await finishedReport(place, 'week.csv'), 'dead-letters.csv');
  // The copy in done/ has its name already.
  await place.drop('week.csv.fix.csv', fix.replace('none', '1'));
  const { batch } = await finishedReport(place, 'week.csv.fix.csv');
  const placed = await until('the copies', async () => {
    const names = await readdir(path.join(place.inbox, 'done'), { recursive: true });
    const copies = names
      .map((name) => path.basename(name))
      .filter((name) => name.includes('.fix2.'));
    return copies.length === 2 && copies.sort();
  });
  expect(placed[0]).toMatch(/^week\.csv-[0-9a-f]{8}\.fix2\.csv$/);
  const downloads = await until('the downloads', async () => {
    const { text } = await person.page(`/batches/${batch}`);
    const names = [...text.matchAll(/>fix file ([^<]*)<\/a>/g)].map(([, name]) => name);
    return names.length > 0 && names;
  });
  expect(downloads).toEqual(placed);
});
