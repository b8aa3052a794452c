import { expect, it } from 'vitest';
import { openOperator } from '../support/operator.ts';
import { plain } from '../support/plain.ts';
import { until } from '../support/until.ts';
import { sheet } from '../support/week.ts';
import { csvOf, openWorkplace } from '../support/workplace.ts';

const textOf = (page: string) => plain(page.replace(/<[^>]*>/g, '')).replace(/\s+/g, ' ');

it('pages say that orders wait for a pause, from which line an order is, and on which attempt it was accepted', async () => {
  const away = { kind: 'answer', status: 503, orders: ['PO-1'], attempts: '1' };
  await using place = await openWorkplace({ faults: { faults: [away] } });
  const person = await openOperator(place, place.start(['start']));
  const shows = (path: string, wanted: RegExp) =>
    until(`${path} shows ${wanted}`, async () => {
      const text = textOf((await person.page(path)).text);
      return wanted.test(text) && text;
    });
  await place.run(['pause', '--reason', 'stock-taking']);
  await place.drop('monday.csv', sheet('PO-1,NEW,A,1', 'PO-1,NEW,B,2', 'PO-2,NEW,A,1'));
  expect(await shows('/order?number=PO-1', /What happened/)).toMatch(
    /in monday\.csv, from line 2 /,
  );
  expect(await shows('/order?number=PO-2', /What happened/)).toMatch(/in monday\.csv, line 4 /);
  const batch =
    /\/batches\/[^"]*-monday-[^"]*/.exec((await person.page('/order?number=PO-1')).text)?.[0] ?? '';
  expect(await shows(batch, /2 orders wait/)).toMatch(
    /2 orders wait, none is accepted yet: delivery is paused since [\d :-]+ UTC by .*: stock-taking\. It ends when somebody resumes delivery\. Then po-sync sends them/,
  );
  expect(await shows(batch, /2 orders wait/)).toMatch(/monday\.csv waits: delivery is paused 0/);
  for (const path of ['/', '/batches'])
    expect(await shows(path, /monday\.csv/)).toMatch(/monday\.csvinboxwaits: delivery is paused/);
  expect((await person.page('/')).text).toMatch(
    /in progress \(orders\).*being verified \(orders\)(?!.*\(jobs\))/s,
  );

  await place.run(['resume']);
  await until('both orders', () => place.stored().size === 2);
  await shows(
    '/order?number=PO-1',
    /in monday\.csv, lines 2, 3 .*accepted on attempt 2: at first the API did not answer or could not take it, and po-sync tried again automatically\./,
  );
  expect(await shows(batch, /accepted after|2 of 2/)).not.toMatch(/orders wait|delivery is paused/);
  expect(await shows('/order?number=PO-2', /accepted ?(?:Other files|$)/)).not.toContain(
    'attempts',
  );
  await place.drop('tuesday.csv', sheet('PO-9,NEW,A,x', 'PO-1,NEW,A,1', 'PO-1,NEW,B,2'));
  expect(await shows('/order?number=PO-1', /duplicate/)).toMatch(/in tuesday\.csv, from line 3 /);
  expect(await shows('/order', /Order number/)).toMatch(
    /contain an article, download "accepted orders with articles and quantities" of some days on the page Batches/,
  );
});

it('pages say that a new file waits for the list of the API', async () => {
  await using place = await openWorkplace({
    delivery: ', readList: eachFile',
    sandbox: { record: true },
  });
  const person = await openOperator(place, place.start(['start']));
  const shows = (path: string, wanted: RegExp) =>
    until(`${path} shows ${wanted}`, async () => {
      const text = textOf((await person.page(path)).text);
      return wanted.test(text) && text;
    });
  await place.drop('monday.csv', sheet('PO-1,NEW,A,1'));
  await until('the first order', () => place.stored().size === 1);
  await place.setFaults([{ kind: 'answer', on: 'list', status: 503 }]);
  await place.drop('tuesday.csv', sheet('PO-2,NEW,A,1', 'PO-3,NEW,A,1'));
  await shows('/', /tuesday\.csv.*waits for the API's list/);
  const batch = /\/batches\/[^"]*-tuesday-[^"]*/.exec((await person.page('/')).text)?.[0] ?? '';
  await shows(
    batch,
    /2 orders wait: po-sync first asks the API which orders it has already, and has no answer yet/,
  );
  await place.setFaults([]);
  await until('both orders', () => place.stored().size === 3);
  expect(await shows(batch, /finished/)).not.toContain('first asks the API');
});

it('an order that failed a check is listed and found with its items while its file is not finished', async () => {
  await using place = await openWorkplace();
  const person = await openOperator(place, place.start(['start']));
  await place.run(['pause', '--reason', 'stock-taking']);
  await place.drop('monday.csv', sheet('PO-1,NEW,A,1', 'PO-2,NEW,BOLT-12,zehn'));
  const list = await until('the order', async () => {
    const text = textOf((await person.page('/dead-letters')).text);
    return text.includes('PO-2') && text;
  });
  expect(list).toContain('BOLT-12 × zehn');
  expect(textOf((await person.page('/dead-letters?q=bolt-12')).text)).toContain(
    '1 order needs a person.',
  );
  expect(place.stored().size).toBe(0);
});

it('pages say that a long file is being sent while it is still read', async () => {
  const faults = { faults: [{ kind: 'delay', by: '20ms' }] };
  await using place = await openWorkplace({ faults, delivery: ', concurrency: 8' });
  const person = await openOperator(place, place.start(['start']));
  // Far more than may wait, however quick the machine is.
  await place.drop('long.csv', csvOf(20_000));
  const shows = (path: string, wanted: RegExp) =>
    until(
      `${path} shows ${wanted}`,
      async () => wanted.exec(textOf((await person.page(path)).text))?.[0],
    );
  const shown = /long\.csvinboxsending, still reading/;
  await shows('/', shown);
  await shows('/batches', shown);
  const { body } = await person.call('GET', '/batches');
  expect((body['items'] as { state: string }[])[0]?.state).toBe('reading');
});

it('Overview and Sources say that a source is silent, also before its first file', async () => {
  const source =
    '- { name: inbox, type: inbox, path: inbox, stable: 100ms, poll: 100ms, expectEvery: 2s }';
  await using place = await openWorkplace({ source });
  const person = await openOperator(place, place.start(['start']));
  for (const path of ['/', '/sources'])
    await until(`${path} says it`, async () =>
      /silent: no file for \d+ s, expected every 2 s/s.test(
        (await person.page(path)).text.replace(/<[^>]*>/g, ''),
      ),
    );
});
