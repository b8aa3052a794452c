import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { openFixPlace as openWorkplace } from '../support/fix-as-text.ts';
import { openOperator } from '../support/operator.ts';
import { until } from '../support/until.ts';
import { finishedReport, settleWeek, sheet } from '../support/week.ts';

it('corrections and batches are those of the days from … to, both included, in a time zone', async () => {
  const refusal = {
    kind: 'answer',
    status: 400,
    message: 'articleCode X is unknown',
    orders: ['PO-2'],
    attempts: '1',
  };
  await using place = await openWorkplace({ faults: { faults: [refusal] } });
  const person = await openOperator(place, place.start(['start']));
  const week = ['PO-1,NEW,A,1', 'PO-2,NEW,X,2', 'PO-3,NEW,"0815",none', 'PO-4,NEW,A,'];
  await settleWeek(place, week, () => ({ quantity: '7' }));
  // The only other attempt is the refusal, which the page shows.
  const { text: history } = await person.page('/order?number=PO-2');
  expect(history).toMatch(/accepted(?: by the API)? on attempt 2; the first was refused</);
  expect(history).not.toContain('tried again automatically');
  const items = await until('the items', async () => {
    const { text } = await person.page('/order?number=PO-3');
    return />0815<.*As sent: [^<]*/s.exec(text)?.[0];
  });
  expect(items).toContain('This file only has what was corrected');
  const day = (offset: number, zone = 'UTC') =>
    new Intl.DateTimeFormat('sv', { timeZone: zone }).format(Date.now() + offset * 86_400_000);
  const found = async (query: string) => {
    const all = ['batches', 'corrections'].map((at) => person.call('GET', `/${at}?${query}`));
    return (await Promise.all(all)).map(({ body }) => (body['items'] as unknown[]).length);
  };
  await until('the lists', async () => (await found('').catch(() => [])).join() === '2,3');
  for (const zone of ['UTC', 'Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
    const [before, today, next] = [day(-1, zone), day(0, zone), day(1, zone)];
    expect(await found(`from=${before}&to=${next}&zone=${zone}`)).toEqual([2, 3]);
    expect(await found(`from=${before}&zone=${zone}`)).toEqual([2, 3]);
    expect(await found(`to=${next}&zone=${zone}`)).toEqual([2, 3]);
    expect(await found(`from=${day(2, zone)}&zone=${zone}`)).toEqual([0, 0]);
    expect(await found(`to=${day(-2, zone)}&zone=${zone}`)).toEqual([0, 0]);
    const { status, body } = await person.call('GET', `/batches?from=${next}&to=${today}`);
    expect([status, body['code'], body['message']]).toEqual([
      400,
      'parameter-wrong',
      'to must not be before from.',
    ]);
  }
  for (const at of ['corrections', 'batches'])
    expect((await person.call('GET', `/${at}?from=${day(0)}&zone=Mars`)).body['code']).toBe(
      'parameter-wrong',
    );
  const { text } = await person.page('/batches?day=2026-11-21&q=week');
  expect(text).toContain('<input name="from" type="date" value="2026-11-21">');
  expect(text).toContain('<input name="to" type="date" value="2026-11-21">');
});

it('a download is named after its file, and the correction of a conflict says what was ordered', async () => {
  await using place = await openWorkplace();
  const person = await openOperator(place, place.start(['start']));
  await place.drop('=week.csv', sheet('PO-1,NEW,A,1'));
  const { batch } = await finishedReport(place, '=week.csv');
  await place.drop('open.csv', sheet('PO-6,NEW,A,none', 'PO-1,NEW,A,9'));
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
  expect(await nameOf(last, 'fix.xlsx')).toBe('attachment; filename="open.csv.fix.xlsx"');
  expect(await nameOf(batch, 'results.csv')).toBe(
    'attachment; filename="_week.csv.results.csv"; filename*=UTF-8\'\'%3Dweek.csv.results.csv',
  );
  expect(await nameOf(last, 'report.html')).toBe('attachment; filename="open.csv.report.html"');
  await until('the name on the page', async () =>
    (await person.page(`/batches/${last}`)).text.includes('>fix file open.csv.fix.xlsx</a>'),
  );

  await place.run(['dead-letters', 'discard', '--order', 'PO-1', '--yes']);
  const differs = 'this number is known with A × 1, and this file has A × 9';
  const settled = await until('the conflict', async () => {
    const { body } = await person.call('GET', '/corrections?q=open');
    return body['total'] === 1 && body['items'];
  });
  expect(settled).toMatchObject([{ kind: 'conflict', already: differs }]);
  expect((await person.page('/corrections?q=open')).text).toContain(`T${differs.slice(1)}`);
});

it('a correction is not called unrecorded while the file that brought it is in progress', async () => {
  const answer = { kind: 'answer', status: 503, orders: ['PO-2'] };
  await using place = await openWorkplace({
    sandbox: { record: true },
    faults: { faults: [answer] },
  });
  const person = await openOperator(place, place.start(['start']));
  await place.drop('week.csv', sheet('PO-1,NEW,A,none', 'PO-2,NEW,A,none'));
  const fix = await place.read(await finishedReport(place, 'week.csv'), 'fix.xlsx');
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
  const fix = await place.read(await finishedReport(place, 'week.csv'), 'fix.xlsx');
  // The copy in done/ has its name already.
  await place.drop('week.csv.fix.xlsx', fix.replace('none', 'many'));
  const { batch } = await finishedReport(place, 'week.csv.fix.xlsx');
  const placed = await until('the copies', async () => {
    const names = await readdir(path.join(place.inbox, 'done'), { recursive: true });
    const copies = names
      .map((name) => path.basename(name))
      .filter((name) => name.includes('.fix2.'));
    return copies.length === 1 && copies;
  });
  expect(placed[0]).toMatch(/^week\.csv-[0-9a-f]{8}\.fix2\.xlsx$/);
  const downloads = await until('the downloads', async () => {
    const { text } = await person.page(`/batches/${batch}`);
    const names = [...text.matchAll(/>fix file ([^<]*)<\/a>/g)].map(([, name]) => name);
    return names.length > 0 && names;
  });
  expect(downloads).toEqual(placed);
});
