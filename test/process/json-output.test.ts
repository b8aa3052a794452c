import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/program.ts';
import { OPERATIONS } from '../../src/operations/all.ts';
import { problem } from '../../src/operations/schemas.ts';
import { bearerHeaders } from '../support/open-sandbox.ts';
import { credentials, openWorkplace, type Workplace } from '../support/workplace.ts';

const folderOf = (document: unknown) => String(Object(document).folder ?? '');

/** Commands that do not print a JSON document. */
const WITHOUT = ['sandbox', 'config schema'];

const FAULTS = [
  {
    kind: 'answer',
    status: 400,
    message: 'articleCode X-9 is invalid',
    orders: ['PO-5', 'PO-6', 'HELD-*'],
  },
  { kind: 'drop', when: 'before', orders: ['PO-8'], how: 'reset' },
  { kind: 'drop', when: 'after', orders: ['PO-9'], attempts: '1' },
];
const ROWS = [
  'PO-1,A,1',
  'PO-2,A,none',
  ',A,1',
  'PO-5,X-9,1',
  'PO-6,X-9,1',
  'PO-8,A,1',
  'PO-9,A,3',
];
const fileOf = (rows: string[]) =>
  `${['purchaseOrderNumber,articleCode,quantity', ...rows].join('\n')}\n`;

/** Each command with its arguments; `{first}` is the batch of the first file. */
const CALLS: [command: string, args: string][] = [
  ['start', '--once'],
  ['map', 'next.csv'],
  ['check', 'next.csv broken.csv'],
  ['check', '--preview next.csv'],
  ['check', '--preview --orders next.csv'],
  ['status', ''],
  ['dashboard', '--sign-out-all'],
  ['pause', '--reason stock-taking'],
  ['status', ''],
  ['resume', ''],
  ['resume', ''],
  ['explain', 'PO-1'],
  ['explain', 'PO-1'],
  ['explain', 'PO-2'],
  ['explain', 'PO-5'],
  ['explain', 'PO-7'],
  ['explain', 'PO-8'],
  ['batches list', ''],
  ['batches list', '--open --limit 1'],
  ['batches show', '{first}'],
  ['batches show', '{broken}'],
  ['batches cancel', '{first}'],
  ['batches release', '{first}'],
  ['dead-letters list', ''],
  ['dead-letters show', '{letter}'],
  ['dead-letters list', '--kind refused --limit 1'],
  ['dead-letters correct', '{letter} --rows [{"row":1,"delete":true}] --dry-run'],
  ['dead-letters retry', '--order PO-5 --dry-run'],
  ['dead-letters retry', '--order PO-5 --yes'],
  ['dead-letters discard', '--order PO-6 --dry-run'],
  ['dead-letters discard', '--order PO-6 --yes'],
  ['dead-letters resolve', 'PO-8 --as resend --dry-run'],
  ['dead-letters resolve', 'PO-8 --as accepted --yes'],
  ['dead-letters list', '--all'],
  ['explain', 'PO-8'],
  ['explain', 'PO-6'],
  ['reconcile', ''],
  ['reconcile', '--repair --yes'],
  ['doctor', ''],
  ['config show', ''],
  ['completion', 'bash'],
  ['rehearse', 'next.csv'],
  ['batches send', 'next.csv --dry-run'],
  ['explain', 'UNKNOWN'],
  ['batches list', '--open'],
  ['batches show', '{held}'],
  ['explain', 'HELD-29'],
  ['status', ''],
  ['batches release', '{held} --dry-run'],
  ['batches cancel', '{held} --dry-run'],
  ['batches cancel', '{held} --yes'],
];

describe('a command with --json', () => {
  const stack = new AsyncDisposableStack();
  const seen: [command: string, args: string, document: unknown][] = [];
  let place: Workplace;

  beforeAll(async () => {
    place = stack.use(
      await openWorkplace({
        faults: { faults: FAULTS },
        delivery:
          ', attempts: 2, onDoubt: hold, concurrency: 2, refusalHold: { share: 50%, of: 6 }',
      }),
    );
    await place.drop('orders.csv', fileOf(ROWS));
    await place.drop('broken.csv', 'purchaseOrderNumber,articleCode,quantity\nPO-1,"A,1\n');
    await place.run(['start', '--once', '--json']);
    await place.drop('second.csv', fileOf(['PO-1,A,2', 'PO-7,A,1', 'PO-11,A,1']));
    await writeFile(
      path.join(place.folder, 'next.csv'),
      fileOf(['PO-1,A,1', 'PO-2,A,none', 'PO-10,A,1']),
    );
    await writeFile(
      path.join(place.folder, 'broken.csv'),
      'purchaseOrderNumber,articleCode,quantity\nPO-1,"A,1\n',
    );
    const order = {
      purchaseOrderNumber: 'PO-99',
      orderState: 'NEW',
      items: [{ articleCode: 'A', quantity: 1 }],
    };
    const headers = bearerHeaders(await place.api.token());
    await place.api.call('POST', '/purchase-orders', { headers, body: JSON.stringify(order) });
    for (const [command, args] of CALLS) {
      if (args === 'UNKNOWN') await holdBatch();
      seen.push([command, args, await documentOf(command, args)]);
    }
  });
  afterAll(() => stack.disposeAsync());

  async function holdBatch(): Promise<void> {
    await place.drop('held.csv', fileOf(Array.from({ length: 30 }, (_, i) => `HELD-${i},A,1`)));
    seen.push(['start', '--once', await place.json('start', '--once')]);
  }

  async function documentOf(command: string, args: string): Promise<unknown> {
    const reports = await place.reportsNow();
    const named = (file: string) => reports.find((report) => report.file === file)?.batch ?? '';
    const given = args
      .replace('{first}', named('orders.csv'))
      .replace('{broken}', named('broken.csv'))
      .replace('{held}', named('held.csv'))
      .replace('{letter}', `${named('orders.csv').slice(-8)}-1`);
    const words = `${command} ${given}`.split(' ').filter((word) => word !== '');
    const { out } = await place.run(['--json', ...words], {
      USER: 'anna',
      ...credentials('STAGING'),
    });
    const document: unknown = JSON.parse(out);
    // Only what the command made: without a report, there is nothing to remove.
    const [made] = /^.*\/po-sync-rehearsal-[^/]+/.exec(folderOf(document)) ?? [];
    if (made !== undefined) await rm(made, { recursive: true });
    return document;
  }

  it('prints one document: the answer of its operation, or an error', () => {
    const wrong = seen.flatMap(([command, args, document]) => {
      const { error, ...others } = document as { error?: unknown };
      const isError = error !== undefined && Object.keys(others).length === 0;
      const one = OPERATIONS.find(({ name }) => name === command);
      const read = isError ? problem.safeParse(error) : one?.output.safeParse(document);
      return read?.success === false ? [`${command} ${args}: ${read.error.message}`] : [];
    });
    expect(wrong).toEqual([]);
  });

  it('was seen for every command', () => {
    const needed = COMMANDS.map(({ name }) => name).filter((name) => !WITHOUT.includes(name));
    expect(needed.filter((name) => !seen.some(([command]) => command === name))).toEqual([]);
  });
});
