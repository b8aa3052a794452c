import { expect, it } from 'vitest';
import { connectRedis } from '../../src/redis/connect.ts';
import {
  DOCUMENTED_USER,
  documentedUsers,
  startTestRedis,
  type TestRedis,
} from '../support/test-redis.ts';
import { openWorkplace, type Workplace } from '../support/workplace.ts';

const { username, password } = DOCUMENTED_USER;
const urlOf = ({ port }: TestRedis) => `redis://${username}:${password}@127.0.0.1:${port}/0`;

const FILE = 'purchaseOrderNumber,articleCode,quantity\nPO-1,A,1\nPO-2,A,1\nPO-2,B,2\n';

async function ledgerOf(place: Workplace) {
  const { code, out } = await place.run(['reconcile', '--json']);
  const { batches } = await place.json('batches', 'list');
  return { code, ...JSON.parse(out), batches };
}

it('a ledger survives a restart of a Redis with the documented ACL file, in which nobody is `default`', async () => {
  await using redis = await startTestRedis({ users: { only: await documentedUsers() } });
  await using place = await openWorkplace({ redis: urlOf(redis) });
  for (const [login, code] of [
    ['', 'NOAUTH'],
    [`${username}:wrong@`, 'WRONGPASS'],
  ]) {
    const refused = connectRedis(`redis://${login}127.0.0.1:${redis.port}/0`);
    await expect(refused).rejects.toMatchObject({
      message: expect.stringMatching(new RegExp(`refuses a command: ${code} .*[^.]\\.$`)),
      remedy: expect.stringContaining('PO_SYNC_REDIS_PASSWORD_FILE'),
    });
  }
  await place.drop('orders.csv', FILE);
  expect(await place.run(['start', '--once'])).toMatchObject({ code: 0 });
  const admin = await connectRedis(`redis://admin:ADMIN_PASSWORD@127.0.0.1:${redis.port}/0`);
  await admin.call('ACL', 'SAVE');
  expect(await admin.config('GET', 'appendonly')).toEqual(['appendonly', 'yes']);
  admin.disconnect();
  await redis.restart();
  const batches = [{ file: 'orders.csv', counts: { accepted: 2 } }];
  expect(await ledgerOf(place)).toMatchObject({ code: 0, listed: 2, accepted: 2, batches });
});
