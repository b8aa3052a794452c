// The lower bound: undici's Pool posts bodies from memory. It reads no file and records nothing.
import { Pool } from 'undici';
import { postWith } from './post-with.ts';
import { readOrderBodies } from './read-order-bodies.ts';
import { serveRuns } from './serve-runs.ts';

let pool: Pool | undefined;

serveRuns(async ({ file, origin, concurrency }) => {
  const bodies: string[] = [];
  for await (const { body } of readOrderBodies(file)) bodies.push(body);
  pool ??= new Pool(origin, { connections: concurrency, pipelining: 1 });
  const post = postWith(pool, 'bench-token');
  let next = 0;
  const work = async () => {
    for (let body = bodies[next++]; body !== undefined; body = bodies[next++]) await post(body);
  };
  return async () => {
    await Promise.all(Array.from({ length: concurrency }, work));
  };
});
