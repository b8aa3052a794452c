import { expect, it } from 'vitest';
import { openOperator } from '../support/operator.ts';
import { plain } from '../support/plain.ts';
import { until } from '../support/until.ts';
import { finishedReport, sheet } from '../support/week.ts';
import { openWorkplace } from '../support/workplace.ts';

const textOf = (page: string) => plain(page.replace(/<[^>]*>/g, '')).replace(/\s+/g, ' ');

it('the list of open orders says how many files could not be read, and links exactly these until nobody has to act', async () => {
  await using place = await openWorkplace();
  const person = await openOperator(place, place.start(['start']));
  const shows = (wanted: RegExp, at = '/dead-letters') =>
    until(`${at} shows ${wanted}`, async () => {
      const { text } = await person.page(at);
      return wanted.test(textOf(text)) && text;
    });
  expect(textOf(await shows(/Orders that need you/))).not.toContain('could not be read');
  await place.drop('scan.csv', 'not a table of orders\n');
  const one = textOf(await shows(/1 file could not be read/));
  expect(one).toContain(
    '1 file could not be read. Orders that could not be read are not sent, and are not in this list. Show this file',
  );
  expect(one).toContain('No order that could be read needs a person.');
  expect(one).not.toContain('No order needs a person.');

  await place.drop('photo.csv', 'also not a table\n');
  await place.drop('open.csv', sheet('PO-1,NEW,A,none'));
  const both = await shows(/2 files could not be read.*1 order needs a person/);
  const overview = (await shows(/1 order needs a person.*Unreadable files.*photo\.csv/, '/')).split(
    'class="figures"',
  );
  for (const words of ['needs a person', 'Unreadable files']) expect(overview[0]).toContain(words);
  const [, href = ''] = /href="([^"]*)">Show these 2 files</.exec(both) ?? [];
  const listed = (await person.page(plain(href))).text;
  for (const name of ['scan.csv', 'photo.csv']) expect(listed).toContain(name);
  expect(listed).not.toContain('open.csv');
  await place.drop('photo.csv', sheet('PO-2,NEW,A,1'));
  await shows(/1 file could not be read/);
  const scan = await finishedReport(place, 'scan.csv');
  const states = async () => textOf((await person.page('/batches?q=scan')).text);
  const scanPage = async () => (await person.page(`/batches/${scan?.batch}`)).text;
  expect(await scanPage()).toContain('>Close: nobody needs it</button>');
  expect(await states()).not.toContain('unreadable, cancelled');
  await person.submit('/batches/cancel', { batch: scan?.batch ?? '' });
  await until('nothing', async () => {
    const { text } = await person.page('/dead-letters');
    return !text.includes('could not be read') && text.includes('PO-1');
  });
  // Neither is red any more, and each name in the folder is shown where it is not the one that was dropped.
  expect(await states()).toContain('unreadable, cancelled');
  expect(await scanPage()).not.toContain('>Close: nobody needs it</button>');
  const photos = await shows(/unreadable, replaced/, '/batches?q=photo');
  expect(photos).not.toContain('badge bad');
  await place.drop('photo.csv', sheet('PO-3,NEW,A,1'));
  await shows(/photo\.csvin the folder: photo-[0-9a-f]{8}\.csv/, '/batches?q=photo');
});

it('tiles say what they show', async () => {
  await using place = await openWorkplace();
  const person = await openOperator(place, place.start(['start']));
  expect(textOf((await person.page('/')).text)).toContain('orders per second (mean of a minute)');
});
