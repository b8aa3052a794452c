import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onTerminal, shownOnTerminal } from '../support/terminal.ts';
import { until } from '../support/until.ts';
import { csvOf, openWorkplace, type Workplace } from '../support/workplace.ts';

// How commands read on a terminal.

const stack = new AsyncDisposableStack();
let place: Workplace;

beforeAll(async () => {
  const fault = {
    kind: 'answer',
    status: 400,
    message: 'articleCode 発注 is not in the catalogue',
    orders: ['PO-3', 'PO-4'],
  };
  place = stack.use(await openWorkplace({ faults: { faults: [fault] } }));
  const name = 'Bestellungen für das Werk Süd, zweite Lieferung im November.csv';
  await place.drop(name, `${csvOf(6)}PO-7,NEW,A,none\n,NEW,A,1\n`);
  expect(await place.run(['start', '--once'])).toMatchObject({ code: 2 });
  await place.drop(
    'broken.csv',
    'purchaseOrderNumber,orderState,articleCode,quantity\nPO-1,NEW,"A,1\n',
  );
  expect(await place.run(['start', '--once'])).toMatchObject({ code: 2 });
});
afterAll(() => stack.disposeAsync());

const shown = (args: string, columns: number, env: Record<string, string> = {}) =>
  shownOnTerminal(place, args, columns, env);

describe('on a terminal', () => {
  it('dead-letters list says at 80 columns what is wrong, and where the fix file is', async () => {
    const text = (await shown('dead-letters list', 80, { NO_COLOR: '1' })).join('\n');
    expect(text).toMatch(/PO-7 +invalid .*quantity is not a number/);
    expect(text).toMatch(/PO-3 +refused .*articleCode 発注 is not in the/);
    expect(text).toContain(`discard:\n  ${place.reports}/open/fix.xlsx`);
  });

  it('asks before it acts, and does nothing after anything but a yes', async () => {
    const answered = async (answer: string) => {
      const { ended, out, type } = onTerminal(place, 'dead-letters discard --order PO-7', {
        NO_COLOR: '1',
      });
      await until('the question', () => out().includes('Discard 1 order? [y/N]'));
      type(`${answer}\n`);
      return { code: await ended, out: out() };
    };
    expect(await answered('n')).toMatchObject({
      code: 1,
      out: expect.not.stringContaining('discarded.\r\n1 order discarded'),
    });
    expect(await answered('')).toMatchObject({
      code: 1,
      out: expect.stringContaining('Nothing was changed.'),
    });
    const interrupted = onTerminal(place, 'dead-letters discard --order PO-7', { NO_COLOR: '1' });
    await until('the question', () => interrupted.out().includes('[y/N]'));
    interrupted.type('\u0003');
    expect({ code: await interrupted.ended, out: interrupted.out() }).toMatchObject({
      code: 1,
      out: expect.stringMatching(/\[y\/N\] \S*\r\nNothing was changed\.\r\n$/),
    });
    expect((await place.reportsNow())[0]).toMatchObject({ open: 4 });
    expect(await answered('y')).toMatchObject({
      code: 0,
      out: expect.stringContaining('1 order discarded.'),
    });
    expect((await place.reportsNow())[0]).toMatchObject({ open: 3 });
  });
});

it('status --watch shows the status again and again until it is interrupted', async () => {
  const watching = place.start(['status', '--watch']);
  await until('the second status', () => watching.out().split(/^staging {2}http/m).length > 2);
  watching.child.kill('SIGINT');
  expect(await watching.ended).toMatchObject({ code: 0, err: '' });
});

it('a file that could not be read says so, with its place and what to do', async () => {
  const { batches }: { batches: { file: string; batch: string }[] } = await place.json(
    'batches',
    'list',
  );
  const broken = batches.find((one) => one.file === 'broken.csv')?.batch ?? '';
  const document = await place.json('batches', 'show', broken);
  expect(document).toMatchObject({
    state: 'unreadable',
    error: { message: expect.stringContaining('line 2') },
  });
  const shown = await place.run(['batches', 'show', broken]);
  expect(shown.out).toMatch(
    /unreadable\n[\s\S]*line 2[\s\S]*Drop the complete file again\.[\s\S]* close it:\n {2}po-sync batches cancel \S+\n/,
  );
  expect(shown.out).toContain(document.error.remedy);
  const lines = await shownOnTerminal(place, 'batches list --open', 80, { NO_COLOR: '1' });
  expect(lines.join(' ')).toContain('closes an unreadable one');
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
});
