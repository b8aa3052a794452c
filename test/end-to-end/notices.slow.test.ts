import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import type { Notice } from '../../src/notify/notice.ts';
import { openFixPlace as openWorkplace } from '../support/fix-as-text.ts';
import { CLIENT_SECRET } from '../support/open-sandbox.ts';
import { openOperator } from '../support/operator.ts';
import { until } from '../support/until.ts';
import { csvOf, type Workplace } from '../support/workplace.ts';

/** A webhook that fails the first call, or each until it is repaired, and the bodies of those it took. */
async function openHook({ isBroken } = { isBroken: false }) {
  let isFine = !isBroken;
  const calls: string[] = [];
  const taken: Notice[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      calls.push(body);
      const isTaken = isFine && calls.length > 1;
      if (isTaken) taken.push(JSON.parse(body) as Notice);
      response.writeHead(isTaken ? 200 : 503).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/T0p-S3cret-Path`,
    calls,
    taken,
    repair: () => {
      isFine = true;
    },
    [Symbol.asyncDispose]: async () => void server.close(),
  };
}

it('a run reports what needs a person by webhook and program, tried again, without order content or secrets', async () => {
  await using hook = await openHook();
  await using place = await openWorkplace({
    more: `notify:
  - { on: [attention, paused, silent], webhook: '${hook.url}' }
  - { on: [attention], command: [sh, -c, 'cat >> told.json; env > env.txt'] }
  - { on: [silent], command: [sh, -c, 'touch never'] }
`,
  });
  await place.drop('orders.csv', `${csvOf(3)}PO-SECRET-77,NEW,ART-XYZ,none\n`);
  await place.drop(
    'broken.csv',
    'purchaseOrderNumber,orderState,articleCode,quantity\nPO-9,NEW,"A,1\n',
  );
  const ended = await place.run(['start', '--once']);
  expect(ended.code).toBe(2);
  // Nothing about the notices.
  expect(ended.err).toMatch(
    /^2 files need a person \((?=.*orders\.csv: 1 order, )(?=.*broken\.csv: unreadable, ).*\): .*\n$/,
  );
  expect(hook.taken.map(({ kind }) => kind).sort()).toEqual(['finished', 'unreadable']);
  expect(hook.taken.find(({ kind }) => kind === 'finished')).toMatchObject({
    environment: 'staging',
    source: 'inbox',
    orders: 4,
    needPerson: 1,
    counts: { accepted: 3, invalid: 1 },
    report: expect.stringContaining(place.reports),
  });
  const told = await readFile(`${place.folder}/told.json`, 'utf8');
  expect(told.trimEnd().split('\n')).toHaveLength(2);
  expect(await readdir(place.folder)).not.toContain('never');
  const everything =
    told + hook.calls.join('') + (await readFile(`${place.folder}/env.txt`, 'utf8'));
  for (const content of ['PO-SECRET-77', 'ART-XYZ', CLIENT_SECRET, 'CLIENT_ID']) {
    expect(everything).not.toContain(content);
  }
  expect(ended.out).toContain('notice not accepted, will retry');
  expect(ended.out).not.toContain('T0p-S3cret-Path');
});

it('status says that a webhook refuses notices; pause and resume produce test notices', async () => {
  await using hook = await openHook({ isBroken: true });
  await using place = await openWorkplace({
    more: `notify: [{ on: [paused], webhook: '${hook.url}' }]\n`,
  });
  const daemon = place.start(['start']);
  await until('the daemon runs', async () => (await statusOf(place)).daemons.length === 1);
  expect((await place.run(['pause', '--reason', 'test of the notices'])).code).toBe(0);
  const { host } = new URL(hook.url);
  await until(
    'status shows it',
    async () => (await statusOf(place)).daemons[0]?.notices !== undefined,
  );
  const [trouble] = (await statusOf(place)).daemons[0]?.notices ?? [];
  expect(trouble).toMatchObject({
    receiver: `webhook ${host}`,
    waiting: 1,
    lost: 0,
    error: 'the webhook answered 503',
  });
  const text = `webhook ${host} did not accept its last notice: the webhook answered 503; 1 notice waits`;
  expect((await place.run(['status'])).out).toContain(text);
  const port = (await statusOf(place)).daemons[0]?.adminPort;
  await until('the overview shows it', async () => {
    const page = await fetch(`http://127.0.0.1:${port}/`);
    return (await page.text()).includes(text);
  });
  expect(JSON.stringify(trouble)).not.toContain('T0p-S3cret-Path');
  hook.repair();
  expect((await place.run(['resume'])).code).toBe(0);
  await until('both are taken', () => hook.taken.length === 2);
  expect(hook.taken.map(({ kind }) => kind)).toEqual(['paused', 'resumed']);
  expect(hook.taken[0]).toMatchObject({ text: expect.stringContaining('test of the notices') });
  await until(
    'status is fine',
    async () => (await statusOf(place)).daemons[0]?.notices === undefined,
  );
  daemon.child.kill('SIGTERM');
  expect((await daemon.ended).code).toBe(0);
});

it('fix files, corrections in the dashboard and unreadable files do not count as files of a silent source', async () => {
  const source =
    '- { name: inbox, type: inbox, path: inbox, stable: 100ms, poll: 200ms, expectEvery: 1h }';
  await using place = await openWorkplace({ source });
  const daemon = place.start(['start']);
  const person = await openOperator(place, daemon);
  const settled = (name: string) =>
    until(`the report of ${name}`, async () =>
      (await place.reportsNow()).find(({ file }) => file === name),
    );
  // The metrics are read once a second: the number of dead letters shows which reading it is.
  const lastFile = async (deadLetters: number) => {
    const metrics = await until(`${deadLetters} dead letters`, async () => {
      const text = await (await fetch(`http://127.0.0.1:${person.port}/metrics`)).text();
      return new RegExp(`^po_sync_dead_letter_orders.* ${deadLetters}$`, 'm').test(text)
        ? text
        : undefined;
    });
    const at = /^po_sync_source_last_file_timestamp_seconds.*source="inbox".* (\S+)$/m.exec(
      metrics,
    )?.[1];
    return { name: (await statusOf(place)).sources[0]?.last?.file, at: Number(at) };
  };
  await place.drop('orders.csv', `${csvOf(1)}PO-101,NEW,ART-1,none\nPO-102,NEW,ART-1,none\n`);
  const report = await settled('orders.csv');
  const before = await lastFile(2);
  expect(before.name).toBe('orders.csv');

  await place.drop('test.csv', 'test\n');
  await settled('test.csv');

  const fixFile = (await place.read(report, 'fix.xlsx')).split('\n');
  const fixed = fixFile.filter((row) => !row.startsWith('PO-102')).join('\n');
  await place.drop('orders.fix.csv', fixed.replace('ART-1,none', 'ART-1,2'));
  await settled('orders.fix.csv');
  const id = await until('the dead letter', async () => {
    const { body } = await person.call('GET', `/dead-letters/list?batch=${report.batch}`);
    const letters = (body['deadLetters'] ?? []) as { id: string }[];
    return letters.length === 1 && letters[0]?.id;
  });
  const sent = await person.call('POST', '/dead-letters/correct', {
    id,
    rows: [{ row: 1, cells: { quantity: '3' } }],
  });
  expect([sent.status, sent.body['sent']]).toEqual([200, true]);
  await until('both are sent', () => place.stored().size === 3);
  expect(await lastFile(0)).toEqual(before);

  await place.drop('more.csv', `${csvOf(1).replaceAll('PO-', 'MORE-')}PO-103,NEW,ART-1,none\n`);
  await settled('more.csv');
  const after = await lastFile(1);
  expect(after.name).toBe('more.csv');
  expect(after.at).toBeGreaterThan(before.at);
  daemon.child.kill('SIGTERM');
  expect((await daemon.ended).code).toBe(0);
});

type Status = {
  daemons: { adminPort?: number; notices?: unknown[] }[];
  sources: { last?: { file: string } }[];
};

async function statusOf(place: Pick<Workplace, 'json'>): Promise<Status> {
  return (await place.json('status')) as Status;
}
