import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import type { Notice } from '../../src/notify/notice.ts';
import { CLIENT_SECRET } from '../support/open-sandbox.ts';
import { until } from '../support/until.ts';
import { csvOf, openWorkplace } from '../support/workplace.ts';

/** A webhook that fails the first call, and the bodies of those it took. */
async function openHook() {
  const calls: string[] = [];
  const taken: Notice[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      calls.push(body);
      if (calls.length > 1) taken.push(JSON.parse(body) as Notice);
      response.writeHead(calls.length > 1 ? 200 : 503).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/T0p-S3cret-Path`,
    calls,
    taken,
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
  await place.drop('broken.csv', 'purchaseOrderNumber,orderState,articleCode,quantity\nPO-9,NEW,"A,1\n');
  const ended = await place.run(['start', '--once']);
  expect(ended).toMatchObject({ code: 2, err: '' });
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
  const everything = told + hook.calls.join('') + (await readFile(`${place.folder}/env.txt`, 'utf8'));
  for (const content of ['PO-SECRET-77', 'ART-XYZ', CLIENT_SECRET, 'CLIENT_ID']) {
    expect(everything).not.toContain(content);
  }
  expect(ended.out).toContain('notice not accepted, will retry');
  expect(ended.out).not.toContain('T0p-S3cret-Path');
});

it('two daemons report once that a source is silent and heard again, and that delivery pauses and resumes', async () => {
  await using hook = await openHook();
  const closed = { kind: 'answer', status: 503, message: 'closed for the night', calls: '1-20' };
  await using place = await openWorkplace({
    faults: { faults: [closed] },
    source: '- { name: inbox, type: inbox, path: inbox, stable: 100ms, poll: 200ms, expectEvery: 3s }',
    more: `notify: [{ on: [paused, silent], webhook: '${hook.url}' }]\n`,
  });
  const daemons = [place.start(['start']), place.start(['start'])];
  const told = (kind: string) => hook.taken.filter((notice) => notice.kind === kind);
  await until('the silence is told', () => told('silent').length > 0);
  await place.drop('orders.csv', csvOf(3));
  await until('the file is told', () => told('heard').length > 0);
  await until('the pause is told', () => told('paused').length > 0);
  await until('its end is told', () => told('resumed').length > 0);
  await until('all orders are sent', () => place.stored().size === 3);
  for (const { child } of daemons) child.kill('SIGTERM');
  expect(await Promise.all(daemons.map(async ({ ended }) => (await ended).code))).toEqual([0, 0]);
  expect(told('heard')).toMatchObject([{ event: 'silent', source: 'inbox', since: told('silent')[0]?.since }]);
  expect(told('paused')).toMatchObject([{ reason: expect.stringContaining('closed for the night') }]);
  expect(told('resumed')).toMatchObject([{ event: 'paused', since: told('paused')[0]?.since }]);
  expect(new Set(hook.taken.map((notice) => JSON.stringify(notice))).size).toBe(hook.taken.length);
});
