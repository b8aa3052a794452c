import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openFixPlace as openWorkplace } from '../support/fix-as-text.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';
import { csvOf } from '../support/workplace.ts';

describe.concurrent('start --once', () => {
  it('without a file ends with 0, and says on standard error that nothing could be sent and why', async () => {
    await using place = await openWorkplace();
    const config = await readFile(place.config, 'utf8');
    const port = await freePort();
    await writeFile(
      place.config,
      config.replace(/authUrl: [^ ,}]+/, `authUrl: http://127.0.0.1:${port}`),
    );
    for (const json of [[], ['--json']]) {
      const { code, err } = await place.run(['start', '--once', ...json]);
      expect(code).toBe(0);
      expect(err).toMatch(
        /^No files to process, and nothing can be sent now: delivery is paused \(ledger-new\): .*does not answer: .*ECONNREFUSED.*\.$/m,
      );
    }
    await writeFile(place.config, config);
    expect(await place.run(['start', '--once'])).toMatchObject({ code: 0, err: '' });
  });

  it('says on standard error why delivery is paused when the maximum wait is over', async () => {
    await using place = await openWorkplace({
      faults: { faults: [{ kind: 'answer', status: 403 }] },
    });
    await place.drop('orders.csv', csvOf(1));
    const { code, err } = await place.run(['start', '--once', '--max-wait', '30s']);
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringMatching(
        /^The maximum wait is over; delivery is paused \(http-403\): .*\. The rest is kept; run po-sync status\.\n$/,
      ),
    });
  });
});

it.concurrent('says on standard error while a person has paused delivery who, why, since when and how to resume', async () => {
  await using place = await openWorkplace();
  await place.run(['start', '--once']);
  await place.run(['pause', '--reason', 'stock-taking']);
  await place.drop('orders.csv', csvOf(1));
  const { code, err } = await place.run(['start', '--once']);
  expect(code).toBe(2);
  expect(err).toMatch(
    /^A person must decide: delivery is paused by \S+: stock-taking, since \d{4}-[-\d]+ [:\d]+ UTC; run po-sync resume, then run this again\. The rest is kept; run po-sync status\.\n/,
  );
  await place.run(['resume']);
  expect((await place.run(['start', '--once'])).code).toBe(0);
  expect([...place.stored().values()]).toEqual([1]);
});

it.concurrent('a file that a killed run claimed is finished; one claimed before the ledger began waits for a person', async () => {
  await using place = await openWorkplace();
  await place.run(['start', '--once']);
  // The time in a name has no fractions of a second: two seconds are later than the ledger for certain.
  const now = new Date(Date.now() + 2_000).toISOString().replace(/[-:]|\.\d{3}/g, '');
  const claim = async (time: string, order: string): Promise<string> => {
    const batch = `${time}-inbox-claimed-0badcafe`;
    const folder = path.join(place.folder, 'inbox', 'processing', batch);
    await mkdir(folder, { recursive: true });
    await writeFile(
      path.join(folder, 'claimed.csv'),
      `purchaseOrderNumber,orderState,articleCode,quantity\n${order},NEW,A,1\n`,
    );
    return batch;
  };
  // Another ledger may have sent it.
  const before = await claim('20260101T080000Z', 'OLD-1');
  const after = await claim(now, 'GOOD-1');
  expect((await place.run(['start', '--once'])).code).toBe(2);
  const accepted = { state: 'finished', counts: { accepted: 1 } };
  expect(await place.reportsNow()).toMatchObject([{ batch: after, ...accepted }]);
  expect([...place.stored().keys()]).toEqual(['GOOD-1']);
  expect((await place.run(['batches', 'release', before, '--yes'])).code).toBe(0);
  expect((await place.run(['start', '--once'])).code).toBe(0);
  expect(await place.reportsNow()).toMatchObject([
    { batch: before, ...accepted },
    { batch: after, ...accepted },
  ]);
});

it.concurrent('names the files that are still in the inbox when the maximum wait is over, and why', async () => {
  const faults = [{ kind: 'answer', on: 'list', status: 503, message: 'closed' }];
  await using place = await openWorkplace({ faults: { faults }, delivery: ', readList: 10ms' });
  // Each waits for the list, and a run reads 16 at a time.
  for (let i = 1; i <= 18; i += 1) await place.drop(`f${i}.csv`, csvOf(1, i));
  const { code, out, err } = await place.run(['--json', 'start', '--once', '--max-wait', '30s']);
  const { end, notTaken } = JSON.parse(out);
  const left = (await readdir(place.inbox)).filter((name) => name.endsWith('.csv')).sort();
  expect({ code, end, left: left.length }).toEqual({ code: 2, end: 'waited', left: 2 });
  expect(notTaken.map(({ file }: { file: string }) => file).sort()).toEqual(left);
  const why =
    'of source inbox: the wait was over before its turn: .* at most 16 files are read at a time.* The next run';
  for (const name of left)
    expect(err).toMatch(new RegExp(`^Not taken: ${name} ${why} tries again\\.$`, 'm'));
});

it.concurrent('ends with 2 for a file that it took and another daemon finished', async () => {
  const refused = { kind: 'answer', status: 400, message: 'unknown article', articles: ['BAD'] };
  const busy = { kind: 'answer', status: 503, message: 'busy', orders: ['PO-1'] };
  await using place = await openWorkplace({
    faults: { faults: [refused, busy] },
    sandbox: { record: true },
  });
  await place.drop('orders.csv', `${csvOf(1)}BAD-1,NEW,BAD,1\n`);
  const run = place.spawn(['--json', 'start', '--once']);
  await until('the refusal', async () => {
    const { deadLetters } = await place.json('dead-letters', 'list');
    return deadLetters.length === 1;
  });
  run.child.kill('SIGSTOP');
  const daemon = place.start(['start']);
  await place.setFaults([refused]);
  await until(
    'the report of the daemon',
    async () => (await place.reportsNow())[0]?.state === 'finished',
  );
  daemon.child.kill('SIGTERM');
  await daemon.ended;
  run.child.kill('SIGCONT');
  const { code, out } = await run.ended;
  const [report] = await place.reportsNow();
  const batch = { batch: report?.batch, file: 'orders.csv', orders: 2, needPerson: 1 };
  expect({ code, ...JSON.parse(out) }).toMatchObject({
    code: 2,
    end: 'done',
    exitCode: 2,
    batches: [batch],
  });
  expect([...place.stored()]).toEqual([['PO-1', 1]]);
});
