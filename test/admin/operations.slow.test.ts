import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { OPERATIONS } from '../../src/operations/all.ts';
import { parametersOf } from '../../src/operations/operation.ts';
import { isAsDescribed } from '../support/described.ts';
import { type Operator, openOperator } from '../support/operator.ts';
import { until } from '../support/until.ts';
import { openWorkplace, type Running, type Workplace } from '../support/workplace.ts';

const HEAD = 'purchaseOrderNumber,orderState,articleCode,quantity';

let place: Workplace;
let daemon: Running;
let person: Operator;
let port = 0;
let batch = '';

type Json = Record<string, unknown>;

async function get(route: string, expected = 200): Promise<Json> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${route}`);
  const body = (await answer.json()) as Json;
  expect([route, answer.status]).toEqual([route, expected]);
  return body;
}

beforeAll(async () => {
  const faults = [
    {
      kind: 'answer',
      status: 400,
      message: 'articleCode X-9 is invalid',
      orders: ['PO-3', 'PO-5'],
    },
  ];
  place = await openWorkplace({ faults: { faults } });
  daemon = place.start(['start']);
  person = await openOperator(place, daemon);
  port = person.port;
  await place.drop(
    'orders <b>.csv',
    `${[HEAD, 'PO-1,NEW,A,1', 'PO-2,NEW,A,1', 'PO-3,NEW,X-9,1', 'PO-4,NEW,B-44,none', 'PO-5,NEW,X-9,2', 'PO-5,NEW,C,3'].join('\n')}\n`,
  );
  batch = await until(
    'the report',
    async () => (await place.reportsNow()).find((one) => one.finishedAt)?.batch,
  );
  await place.drop('later.csv', `${HEAD}\nPO-6,NEW,A,none\nPO-7,NEW,A,none\n`);
  await until('the report of a later batch', async () => (await place.reportsNow()).length === 2);
  await writeFile(path.join(place.folder, 'more.csv'), MORE);
  await until('the end', async () => (await get(`batches/show?batch=${batch}`))['settledPath']);
});
afterAll(() => place[Symbol.asyncDispose]());

/** Each operation that changes nothing, with its parameters; `{batch}` is the name of the batch. */
const READS: readonly (readonly [name: string, given: Record<string, string>])[] = [
  ['status', {}],
  ['doctor', {}],
  ['explain', { order: 'PO-1' }],
  ['explain', { order: 'PO-3' }],
  ['explain', { order: 'PO-404' }],
  ['batches list', {}],
  ['batches list', { open: 'true', limit: '1' }],
  ['batches show', { batch: '{batch}' }],
  ['batches show', { batch: 'frob' }],
  ['dead-letters list', {}],
  ['dead-letters list', { kind: 'refused', limit: '1' }],
  ['dead-letters list', { limit: '1' }],
  ['dead-letters list', { limit: '3' }],
  ['dead-letters list', { order: 'PO-3', all: 'true' }],
  ['dead-letters list', { batch: 'frob' }],
  ['dead-letters show', { id: '{letter}' }],
  ['dead-letters show', { id: 'frob-7' }],
];

/** Each operation that changes something, tried as a plan or where nothing is left to do. */
const ACTS: readonly (readonly [name: string, given: Json])[] = [
  ['batches send', { file: 'more.csv', dryRun: true }],
  ['batches send', { file: 'more.csv', plan: 'other' }],
  ['batches send', { file: 'more.csv', source: 'frob' }],
  ['batches release', { batch: '{batch}', dryRun: true }],
  ['batches cancel', { batch: '{batch}' }],
  ['dead-letters retry', { kind: 'refused', dryRun: true }],
  ['dead-letters retry', { id: ['{letter}'], dryRun: true }],
  ['dead-letters retry', { limit: 0 }],
  ['dead-letters discard', { batch: '{batch}', limit: 2, dryRun: true }],
  ['dead-letters discard', {}],
  ['dead-letters correct', { id: '{letter}', rows: [{ row: 1, cells: { quantity: 'none' } }] }],
  ['dead-letters correct', { id: '{letter}', rows: [{ row: 9, cells: {} }] }],
  ['dead-letters correct', { id: '{letter}', rows: 'none' }],
  ['dead-letters resolve', { order: 'PO-3', as: 'accepted' }],
  ['dead-letters resolve', { order: 'PO-3', as: 'wrong' }],
  ['reconcile', {}],
  ['pause', { reason: 'stock-taking' }],
  ['resume', {}],
  ['dashboard', {}],
];

/** What differs between two answers a moment apart, or given to two people. */
const CHANGING = ['now', 'token', 'young', 'reason', 'before', 'resumed', 'url', 'who'];
const timeless = (document: Json): Json =>
  JSON.parse(JSON.stringify(document).replaceAll(/ in \d+ ms/g, '')) as Json;
/** Each dry run keeps its plan under another id. */
const steady = (document: Json): Json => ({
  ...Object.fromEntries(
    Object.entries(timeless(document)).filter(([key]) => !CHANGING.includes(key)),
  ),
  ...('dryRun' in document && 'id' in document && { id: typeof document['id'] }),
});

const filled = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value)
      .replace('{batch}', batch)
      .replace('{letter}', `${batch.slice(-8)}-2`),
  );

/** The words of a command line with these parameters. */
function wordsOf(name: string, given: Json): string[] {
  const one = OPERATIONS.find((operation) => operation.name === name);
  const { parameters } = parametersOf(one ?? { input: z.strictObject({}) });
  const words = Object.entries(given).flatMap(([key, value]) => {
    const flag = `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    if (parameters[key]?.['x-argument']) return [String(value)];
    const text =
      Array.isArray(value) && name.endsWith('correct') ? JSON.stringify(value) : String(value);
    return text === 'true' ? [flag] : [flag, text];
  });
  return [...name.split(' '), ...words, ...('yes' in parameters ? ['--yes'] : []), '--json'];
}

const MORE = `${HEAD},plant\nPO-1,NEW,A,1,N\nPO-9,NEW,A,none,N\n`;

describe('an operation', () => {
  it.each(READS)('%s with %j is the same as a command and as a route', async (name, given) => {
    const known = filled(given) as Record<string, string>;
    const command = await place.run(wordsOf(name, known));
    const printed = JSON.parse(command.out) as Json;
    const query = new URLSearchParams(known).toString();
    const answer = await fetch(
      `http://127.0.0.1:${port}/api/v1/${name.replace(' ', '/')}?${query}`,
    );
    expect(steady((await answer.json()) as Json)).toEqual(steady(printed));
    expect(answer.ok).toBe(command.code === 0);
    if (answer.ok) isAsDescribed(name, printed);
  });

  it.each(ACTS)('%s with %j does the same as a command and as a route', async (name, given) => {
    const known = filled(given) as Json;
    const command = await place.run(wordsOf(name, known));
    const printed = JSON.parse(command.out) as Json & { error?: Json };
    const query = new URLSearchParams(known as Record<string, string>).toString();
    const { status, body } = await ('file' in known
      ? person.file(query, MORE)
      : person.call('POST', `/${name.replace(' ', '/')}`, known));
    if (printed.error?.['code'] === 'usage-invalid-argument')
      expect(body['code']).toBe('parameter-wrong');
    else expect(steady(body)).toEqual(steady(printed.error ?? printed));
    expect(status === 200).toBe(printed.error === undefined);
    if (status === 200) isAsDescribed(name, body);
  });

  it('is in one of the tables above', () => {
    const tried = new Set([...READS, ...ACTS].map(([name]) => name));
    expect(OPERATIONS.filter(({ name }) => !tried.has(name))).toEqual([]);
  });

  it('is described by /api/v1/openapi.json', async () => {
    const { paths } = (await get('openapi.json')) as { paths: object };
    expect(Object.keys(paths)).toEqual(OPERATIONS.map(({ name }) => `/${name.replace(' ', '/')}`));
  });
});

describe('files of a report', () => {
  it.each(['report.json', 'report.html', 'results.csv', 'dead-letters.json', 'fix.xlsx'])(
    '%s is a download with its bytes',
    async (name) => {
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/batches/${batch}/files/${name}`);
      expect(answer.headers.get('content-disposition')).toMatch(
        /^attachment; filename="[\w.-]+"(?:; filename\*=UTF-8''[\w.%-]+)?$/,
      );
      const bytes = Buffer.from(await answer.arrayBuffer());
      expect(bytes).toEqual(await readFile(path.join(place.reports, batch, name)));
    },
  );

  it.each([
    '..%2fpo-sync.yaml',
    '..%2f..%2fpo-sync.yaml',
    'po-sync.yaml',
    '.',
    '%2e%2e%2freport.json',
    'REPORT.JSON',
    'report.json%00',
  ])('%s is refused', async (name) => {
    await get(`batches/${batch}/files/${name}`, 404);
  });

  it.each(['..', '..%2f..', '%2e%2e%2freports', `.%2f`, '20261121T071500Z-..%2f..%2fx'])(
    'of the batch %s are refused',
    async (name) => {
      await get(`batches/${name}/files/report.json`, 404);
    },
  );
});

describe('mistakes', () => {
  it.each([
    ['batches/list?frob=1', 400, 'parameter-wrong'],
    ['batches/list?limit=0', 400, 'parameter-wrong'],
    ['batches/list?open=perhaps', 400, 'parameter-wrong'],
    ['batches/list?limit=none', 400, 'parameter-wrong'],
    ['dead-letters/list?kind=Refused', 400, 'parameter-wrong'],
    ['explain', 400, 'parameter-wrong'],
    ['explain?order=..%2f..%2fetc', 404, 'order-unknown'],
    ['batches/frob', 404, 'not-found'],
    ['nothing', 404, 'not-found'],
  ])('%s is answered with %i and a code', async (route, status, code) => {
    const { error } = await get(route, status);
    expect(error).toMatchObject({ code, message: expect.any(String), facts: expect.any(Object) });
  });
});

describe('what is in the inbox and its folders', () => {
  const json = (...command: string[]) => place.json(...command);
  const openNow = async (): Promise<string[]> => {
    const { batches } = await get('batches/list?open=true');
    return (batches as { file: string }[]).map(({ file }) => file);
  };

  it('an unreadable file waits for a person everywhere until one closes it; its file stays', async () => {
    await place.drop('broken.csv', `${HEAD}\nPO-9,NEW,"A,1\n`);
    await until('it waits in the list', async () => (await openNow()).includes('broken.csv'));
    const found = await json('batches', 'show', 'broken.csv');
    expect(found.settledPath).toMatch(/failed.*broken\.csv$/);
    expect((await json('status')).unreadable).toMatchObject([{ file: 'broken.csv' }]);
    const closing = 'closes an unreadable one, and so does: po-sync batches cancel BATCH\n';
    for (const words of [['status'], ['batches', 'list', '--open']])
      expect((await place.run(words)).out).toContain(closing);
    expect((await place.run(['batches', 'show', 'broken.csv'])).out).toMatch(
      /close it:\n {2}po-sync batches cancel \S+\n/,
    );
    const page = async (name: string) => (await person.page(`/${name}`)).text;
    const address = `batches/${found.batch}`;
    await until('the overview says how', async () =>
      (await page('')).includes('A readable file of the same name closes an unreadable one'),
    );
    await until('its page has the button', async () =>
      (await page(address)).includes('>Close: nobody needs it</button>'),
    );
    const cancel = ['batches', 'cancel', found.batch, '--yes', '--json'];
    expect(JSON.parse((await place.run(cancel)).out)).toMatchObject({ dismissed: true });
    expect((await json('status')).unreadable).toEqual([]);
    const open = (await json('batches', 'list', '--open')).batches.map(
      ({ file }: { file: string }) => file,
    );
    expect(open).toContain('orders <b>.csv');
    expect(open).not.toContain('broken.csv');
    await until('it is gone from the list', async () => !(await openNow()).includes('broken.csv'));
    await until('it is gone from the overview', async () => {
      const { unreadable } = await get('status');
      return (unreadable as unknown[]).length === 0;
    });
    expect(await page(address)).not.toContain('>Close: nobody needs it</button>');
    expect(await readFile(path.resolve(place.folder, found.settledPath), 'utf8')).toContain('PO-9');
    const again = await place.run(cancel);
    expect([again.code, JSON.parse(again.out).error.code]).toEqual([1, 'batch-finished']);
  });

  it('folders and links are named by status and by the page of the sources', async () => {
    await mkdir(path.join(place.inbox, 'june\u202e'));
    await symlink('elsewhere.csv', path.join(place.inbox, 'link.csv'));
    for (let i = 0; i < 5; i += 1) await mkdir(path.join(place.inbox, `more-${i}`));
    const [source] = (await json('status')).sources;
    expect(source.ignored.total).toBe(7);
    expect(source.ignored.entries).toHaveLength(5);
    for (const { name, kind } of source.ignored.entries)
      expect(kind).toBe(name === 'link.csv' ? 'link' : 'folder');
    const { out } = await place.run(['status']);
    expect(out).toMatch(/Not read\n {2}inbox: .*\((folder|link)\).* and 2 more\n/);
    expect(out).toContain('not folders and links');
    expect(out).not.toContain('\u202e');
    await until('the page names them', async () => {
      const page = await fetch(`http://127.0.0.1:${port}/sources`);
      return /and 2 more.*not folders and links/s.test(await page.text());
    });
    expect(await get('status')).toMatchObject({ sources: [{ ignored: { total: 7 } }] });
  });
});
