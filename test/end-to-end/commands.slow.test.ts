import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { textWidth } from '../../src/core/format.ts';
import { onTerminal, shownOnTerminal } from '../support/terminal.ts';
import { until } from '../support/until.ts';
import { csvOf, openWorkplace, type Workplace } from '../support/workplace.ts';

// Every command as a process: what it prints for programs, how it ends, and how it reads on a terminal.

const stack = new AsyncDisposableStack();
let place: Workplace;
let batch: string;
let file: string;

beforeAll(async () => {
  const fault = {
    kind: 'answer',
    status: 400,
    message: 'articleCode 発注 is not in the catalogue',
    orders: ['PO-3', 'PO-4'],
  };
  place = stack.use(await openWorkplace({ faults: { faults: [fault] } }));
  file = path.join(place.folder, 'to-check.csv');
  await writeFile(file, `${csvOf(3)}PO-9,NEW,A,none\n`);
  const name = 'Bestellungen für das Werk Süd, zweite Lieferung im November.csv';
  await place.drop(name, `${csvOf(6)}PO-7,NEW,A,none\n,NEW,A,1\n`);
  expect(await place.run(['start', '--once'])).toMatchObject({ code: 2 });
  batch = (await place.reportsNow())[0]?.batch ?? '';
  await place.drop(
    'broken.csv',
    'purchaseOrderNumber,orderState,articleCode,quantity\nPO-1,NEW,"A,1\n',
  );
  expect(await place.run(['start', '--once'])).toMatchObject({ code: 2 });
});
afterAll(() => stack.disposeAsync());

describe('with --json', () => {
  const commands: [string, number, object][] = [
    ['status', 0, { deadLetters: 4, unreadable: [{ file: 'broken.csv' }] }],
    ['explain PO-3', 0, { order: 'PO-3', state: 'refused' }],
    ['batches list', 0, { batches: [{ state: 'unreadable' }, { state: 'finished', open: 4 }] }],
    [
      'batches list --open',
      0,
      { batches: [{ state: 'unreadable', error: { code: 'unreadable-incomplete' } }, { open: 4 }] },
    ],
    [
      'batches show BATCH',
      0,
      { state: 'finished', counts: { accepted: 4, refused: 2, invalid: 2 } },
    ],
    ['batches release BATCH --dry-run', 1, { error: { code: 'batch-not-held' } }],
    ['batches cancel BATCH --dry-run', 1, { error: { code: 'batch-finished' } }],
    [
      'dead-letters list --kind refused',
      0,
      { deadLetters: [{ purchaseOrderNumber: 'PO-3' }, { purchaseOrderNumber: 'PO-4' }] },
    ],
    ['dead-letters retry --dry-run', 2, { dryRun: true, plan: { retried: 2, invalid: 2 } }],
    ['dead-letters retry', 1, { error: { code: 'not-confirmed' } }],
    ['dead-letters discard --dry-run', 0, { dryRun: true, plan: { discarded: 4 } }],
    ['dead-letters discard', 1, { error: { code: 'not-confirmed' } }],
    ['dead-letters resolve PO-3 --as accepted --dry-run', 1, { error: { code: 'not-in-doubt' } }],
    ['reconcile', 0, { listed: 4, accepted: 4, missing: [], unknown: [], differing: [] }],
    ['pause --reason test', 0, {}],
    ['resume', 0, {}],
    ['doctor', 0, { ok: true }],
    ['config show', 0, {}],
    ['config schema', 0, { type: 'object' }],
    [
      'check FILE',
      2,
      { files: [{ orders: 4, invalid: 1, first: { purchaseOrderNumber: 'PO-1' } }] },
    ],
    ['check nowhere.csv', 1, { files: [{ error: { code: 'file-missing' } }] }],
    ['explain PO-99', 1, { error: { code: 'order-unknown' } }],
  ];

  it.each(commands)('%s prints one document and ends with %i', async (command, code, document) => {
    const args = command
      .split(' ')
      .map((word) => (word === 'BATCH' ? batch : word === 'FILE' ? file : word));
    const ended = await place.run(['--json', ...args]);
    expect(ended.err).toBe('');
    expect(JSON.parse(ended.out)).toMatchObject(document);
    expect(ended.code).toBe(code);
    expect(ended.out).not.toContain('\u001b');
  });
});

const shown = (args: string, columns: number, env: Record<string, string> = {}) =>
  shownOnTerminal(place, args, columns, env);

describe('on a terminal', () => {
  const tables = ['dead-letters list', 'batches list'];

  it.each(tables.flatMap((args) => [80, 60, 40].map((columns) => [args, columns] as const)))(
    '%s fits %i columns',
    async (args, columns) => {
      const lines = await shown(args, columns, { NO_COLOR: '1' });
      const table = lines.slice(0, lines.indexOf(''));
      expect(table.length).toBeGreaterThan(2);
      expect(Math.max(...table.map(textWidth))).toBeLessThanOrEqual(columns);
    },
  );

  it('dead-letters list says at 80 columns what is wrong, and where the fix file is', async () => {
    const text = (await shown('dead-letters list', 80, { NO_COLOR: '1' })).join('\n');
    expect(text).toMatch(/PO-7 +invalid .*quantity is not a number/);
    expect(text).toMatch(/PO-3 +refused .*articleCode 発注 is not in the/);
    expect(text).toContain(
      `Correct and drop into the inbox:\n  ${place.reports}/${batch}/fix.xlsx`,
    );
  });

  it.each(['status', ...tables, 'explain PO-3', 'doctor'])(
    '%s says the same without color as with it',
    async (args) => {
      const words = (lines: string[]) =>
        stripVTControlCharacters(lines.join(' ')).replace(/\d+/g, '0').split(/\s+/);
      // The text for how long ago something was changes with time.
      await until('the same words', async () => {
        const [plain, coloured] = [await shown(args, 80, { NO_COLOR: '1' }), await shown(args, 80)];
        expect(plain.join('')).not.toContain('\u001b');
        expect(coloured.join('')).toContain('\u001b[');
        return words(coloured).join(' ') === words(plain).join(' ');
      });
    },
  );

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
  const { out } = await place.run(['--json', 'batches', 'list']);
  const { batches }: { batches: { file: string; batch: string }[] } = JSON.parse(out);
  const broken = batches.find((one) => one.file === 'broken.csv')?.batch ?? '';
  const document = JSON.parse((await place.run(['--json', 'batches', 'show', broken])).out);
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
