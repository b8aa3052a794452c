import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { csvOf, openWorkplace, type Workplace } from '../support/workplace.ts';

/** One clear message on standard error, exit code 1, and never a stack trace. */
async function refuses(
  place: Workplace,
  args: string[],
  env: Record<string, string>,
  ...says: (string | RegExp)[]
): Promise<void> {
  const { code, err, out } = await place.run(args, env);
  expect(code).toBe(1);
  const lines = out.split('\n').filter((line) => line.startsWith('{'));
  // Whoever reads only the log sees the same message.
  if (lines.length > 0) {
    const last = JSON.parse(lines.at(-1) ?? '');
    expect(last).toMatchObject({
      level: 'error',
      event: 'daemon-failed',
      environment: expect.any(String),
    });
    expect(last.code).toMatch(/^[a-z][a-z0-9-]+$/);
    const plain = err.replace(/\s+/g, ' ');
    for (const text of [last.reason, last.remedy])
      expect(plain).toContain(text.replace(/\s+/g, ' '));
  }
  for (const text of says) expect(err).toMatch(text);
  expect(err).not.toMatch(/^\s+at /m);
  expect(err.match(/po-sync:/g)).toHaveLength(1);
}

describe('start', () => {
  it('reports a missing inbox', async () => {
    await using place = await openWorkplace();
    await rm(place.inbox, { recursive: true });
    const before = await readdir(place.folder);
    await refuses(
      place,
      ['start'],
      {},
      place.inbox,
      `or correct sources[0].path in ${place.config}`,
    );
    expect(await readdir(place.folder)).toEqual(before);
    await writeFile(place.inbox, '');
    await refuses(
      place,
      ['start'],
      {},
      `${place.inbox} is not a folder`,
      `Correct sources[0].path in ${place.config}`,
    );
  });

  it('reports a missing folder for answers, before an order is sent', async () => {
    const source =
      '- { name: erp, type: inbox, path: inbox, stable: 100ms, poll: 200ms, answers: answrs }';
    await using place = await openWorkplace({ source });
    await place.drop('orders.csv', csvOf(1));
    await refuses(
      place,
      ['start', '--once'],
      {},
      'answrs does not exist',
      /correct\s+sources\[0\]\.answers in/,
    );
    expect(place.stored().size).toBe(0);
  });

  it('refuses another address of the API until a person says that the API is the same, or begins a new ledger', async () => {
    await using place = await openWorkplace();
    const once = (...args: string[]) => place.run(['start', '--once', ...args]);
    const file = (number: string) => `purchaseOrderNumber,articleCode,quantity\n${number},A,1\n`;
    await place.drop('first.csv', file('PO-1'));
    expect((await once()).code).toBe(0);
    await place.drop('waits.csv', file('PO-2'));
    const former = await readFile(place.config, 'utf8');
    await writeFile(place.config, former.replaceAll('127.0.0.1:', 'localhost:'));
    await refuses(place, ['start', '--once'], {}, 'The ledger of staging is for baseUrl');
    expect((await place.run(['doctor'])).out).toMatch(/fail +ledger +The ledger of staging/);
    expect((await once('--same-api')).code).toBe(0);
    await writeFile(place.config, former);
    await refuses(place, ['status'], {}, 'The ledger of staging is for baseUrl');
    await place.drop('again.csv', file('PO-1'));
    expect((await once('--new-ledger', '--same-api')).code).toBe(1);
    expect((await once('--new-ledger')).code).toBe(0);
    expect((await place.reportsNow()).at(-1)?.counts).toMatchObject({ duplicate: 1 });
    expect([...place.stored()]).toEqual([
      ['PO-1', 1],
      ['PO-2', 1],
    ]);
  });

  it('prints the error as one JSON document with --json', async () => {
    await using place = await openWorkplace();
    const { code, out } = await place.run(['start', '--json'], {
      PO_SYNC_STAGING_CLIENT_SECRET: 'wrong',
    });
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      error: { code: 'token-refused', remedy: expect.any(String) },
    });
  });
});
