import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import type { Notice } from '../../src/notify/notice.ts';
import { openFixPlace as openWorkplace } from '../support/fix-as-text.ts';
import { CLIENT_SECRET } from '../support/open-sandbox.ts';
import { csvOf } from '../support/workplace.ts';

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
  expect(ended.out).toContain('notice delayed');
  expect(ended.out).not.toContain('T0p-S3cret-Path');
});
