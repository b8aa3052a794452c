import { systemClock } from '../../src/core/clock.ts';
import { connectRedis } from '../../src/redis/connect.ts';
import { openPrivateRedis } from '../../src/redis/private-server/private-server.ts';

/** Opens the private Redis of the data folder given, counts a visit, reports it, and runs until its input closes. */
const [data = ''] = process.argv.slice(2);
{
  await using redis = await openPrivateRedis({ data, clock: systemClock });
  const client = await connectRedis(redis.url);
  await client.incr('visits');
  process.stdout.write(`${JSON.stringify({ adopted: redis.adopted, url: redis.url })}\n`);
  await new Promise((resolve) => process.stdin.once('end', resolve).resume());
  client.disconnect();
}
