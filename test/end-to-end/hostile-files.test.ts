import { execFile } from 'node:child_process';
import { mkdir, readdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { openWorkplace } from '../support/workplace.ts';

const HEADER = 'purchaseOrderNumber,orderState,articleCode,quantity';
const COLUMNS = Array.from({ length: 9_996 }, (_, i) => `c${i}`).join(',');

/** Each is refused completely, with its line where one can be named. */
const UNREADABLE: Record<string, [content: string | Buffer, code: string]> = {
  'quote.csv': [`${HEADER}\n1,NEW,"A,1\n`, 'unreadable-incomplete'],
  'quote-without-end.csv': [
    `${HEADER}\n1,NEW,"A,1\n${'2,NEW,B,1\n'.repeat(200_000)}`,
    'unreadable-too-large',
  ],
  'bomb.csv.gz': [gzipSync(Buffer.alloc(60_000_000, 'x')), 'unreadable-too-large'],
  'deep.json': ['['.repeat(100_000), 'unreadable-json'],
  'zeros.csv': [Buffer.alloc(100_000), 'unreadable-incomplete'],
  'letters.csv': [
    Buffer.from(`${HEADER}\n1,NEW,\xff,1\n2,NEW,ü,1\n`, 'latin1').fill('é', 70, 72),
    'unreadable-encoding',
  ],
};

/** What is wrong with the complete file. */
const WITHOUT_LINE = new Set(
  Object.keys(UNREADABLE).filter(
    (name) => name === 'zeros.csv' || UNREADABLE[name]?.[1] === 'unreadable-foreign',
  ),
);

/** Each is read, whatever it is called and whatever is in it. */
const READABLE: Record<string, string> = {
  'new\nline.csv': `${HEADER}\nA-1,NEW,A,1\n`,
  'ü\u202e.csv': `${HEADER}\nA-2,NEW,A,1\n`,
  [`${'x'.repeat(251)}.csv`]: `${HEADER}\nA-3,NEW,A,1\n`,
  '-rf.csv': `${HEADER}\nA-4,NEW,A,1\n`,
  'hidden.csv': `${HEADER}\n"A-5\u0000",NEW,A,1\nA-6\u202e,NEW,A,1\n`,
  'surrogate.json':
    '[{"purchaseOrderNumber":"\\ud800","items":[]},{"purchaseOrderNumber":"A-7","items":[{"articleCode":"A","quantity":1}]}]',
};

/** Each waits: it has a column that its mapping does not declare. */
const WAITING: Record<string, string> = {
  'columns.csv': `${HEADER},${COLUMNS}\n1,NEW,A,1${',x'.repeat(9_996)}\n`,
  'proto.csv': `${HEADER},__proto__\n1,NEW,A,1,x\n`,
  'proto.json':
    '[{"__proto__":{"x":1},"purchaseOrderNumber":"A-8","items":[{"articleCode":"A","quantity":1}]}]',
};

describe('an inbox full of hostile files', () => {
  it('is emptied: each is reported, none hangs, and what is good is sent', async () => {
    await using place = await openWorkplace();
    for (const [name, [content]] of Object.entries(UNREADABLE)) await place.drop(name, content);
    for (const [name, content] of Object.entries(READABLE)) await place.drop(name, content);
    for (const [name, content] of Object.entries(WAITING)) await place.drop(name, content);
    await place.drop('empty.csv', '');
    for (let i = 0; i < 5; i++)
      await promisify(execFile)('mkfifo', [path.join(place.inbox, `pipe${i}.csv`)]);
    await symlink('/etc/passwd', path.join(place.inbox, 'link.csv'));
    await mkdir(path.join(place.inbox, 'folder.csv'));

    expect(await place.run(['start', '--once'])).toMatchObject({ code: 2 });

    const reports = await place.reportsNow();
    const errors = new Map(reports.map(({ file, error }) => [file, error]));
    for (const [name, [, code]] of Object.entries(UNREADABLE)) {
      expect(errors.get(name), name).toMatchObject({ code });
      if (!WITHOUT_LINE.has(name)) expect(errors.get(name), name).toHaveProperty('line');
    }
    expect(errors.get('empty.csv')).toMatchObject({ code: 'unreadable-empty' });
    const { batches } = await place.json('batches', 'list');
    const waiting = batches.filter(({ state }: { state: string }) => state === 'waiting');
    expect(waiting.map(({ file }: { file: string }) => file).toSorted()).toEqual(
      Object.keys(WAITING).toSorted(),
    );
    expect(JSON.stringify(waiting).length).toBeLessThan(100_000);
    expect(reports).toHaveLength([UNREADABLE, READABLE].flatMap(Object.keys).length + 1);
    expect([...place.stored().keys()].toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
      'A-1',
      'A-2',
      'A-3',
      'A-4',
      'A-7',
    ]);
    const claimed = await readdir(path.join(place.inbox, 'processing'));
    expect(claimed).toHaveLength(Object.keys(WAITING).length);
    const left = (await readdir(place.inbox)).filter((name) => !name.startsWith('.'));
    expect(left).toEqual(
      expect.arrayContaining(['folder.csv', 'link.csv', 'pipe0.csv', 'pipe4.csv']),
    );
    expect(left).toHaveLength(5 + 2 + 3 + 1);
  });
});
