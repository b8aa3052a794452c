import { rename } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { isGone } from '../../src/core/regular-file.ts';
import { csvOf, openWorkplace } from '../support/workplace.ts';

it('without its data, commands that read make none and say so, and doctor names the inbox that was used', async () => {
  await using place = await openWorkplace({ redis: 'private' });
  const data = path.join(place.folder, 'data');
  const flat = async (...args: string[]) => {
    const { code, out, err } = await place.run(args);
    return { code, text: `${out}${err}`.replace(/\s+/g, ' ') };
  };
  expect(await flat('status')).toMatchObject({ code: 1, text: expect.stringContaining('There is no data in') });
  expect((await flat('doctor')).text).not.toContain('has no ledger');
  expect(await isGone(path.join(data, 'redis'))).toBe(true);
  await place.drop('orders.csv', csvOf(2));
  expect(await place.run(['start', '--once'])).toMatchObject({ code: 0 });
  expect(await flat('status')).toMatchObject({ code: 0 });

  await rename(data, `${data}.away`);
  const { code, text } = await flat('status');
  expect(code).toBe(1);
  expect(text).toContain(`There is no data in ${data} yet: first start, or its volume is not mounted.`);
  const said = `${data} has no ledger, but po-sync worked on ${place.inbox} for`;
  expect((await flat('doctor')).text.replaceAll(' ', '')).toContain(said.replaceAll(' ', ''));
  expect(await isGone(path.join(data, 'redis'))).toBe(true);
});
