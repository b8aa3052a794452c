import { rename } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { isGone } from '../../src/core/regular-file.ts';
import { csvOf, openWorkplace } from '../support/workplace.ts';

it('without its data, commands make no new ledger where an inbox was used before, and doctor names the inbox', async () => {
  await using place = await openWorkplace({ redis: 'private' });
  const data = path.join(place.folder, 'data');
  const flat = async (...args: string[]) => {
    const { code, out, err } = await place.run(args);
    return { code, text: `${out}${err}`.replace(/\s+/g, ' ') };
  };
  expect((await flat('doctor')).text).not.toContain('has no ledger');
  expect(await isGone(path.join(data, 'redis'))).toBe(true);
  expect(await flat('status')).toMatchObject({
    code: 0,
    text: expect.stringContaining('none running'),
  });
  await place.drop('orders.csv', csvOf(2));
  expect(await place.run(['start', '--once'])).toMatchObject({ code: 0 });
  expect(await flat('status')).toMatchObject({ code: 0 });

  await rename(data, `${data}.away`);
  for (const command of ['status', 'pause', 'check --preview orders.csv'].map((text) =>
    text.split(' '),
  )) {
    const { code, text } = await flat(...command);
    expect([code, text]).toEqual([
      1,
      expect.stringContaining(`There is no ledger in ${data}, but po-sync used`),
    ]);
  }
  const said = `${data} has no ledger, but po-sync worked on ${place.inbox} for`;
  expect((await flat('doctor')).text.replaceAll(' ', '')).toContain(said.replaceAll(' ', ''));
  expect(await isGone(path.join(data, 'redis'))).toBe(true);
});
