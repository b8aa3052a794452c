// `npm run bench`: everything in one run. See docs/performance.md.
import { parseArgs } from 'node:util';
import { firstPost } from './rows/first-post.ts';
import { idle } from './rows/idle.ts';
import { intake } from './rows/intake.ts';
import { redisMemory } from './rows/redis-memory.ts';
import type { Row } from './rows/row.ts';
import { sandbox } from './rows/sandbox.ts';
import { saturated } from './rows/saturated.ts';
import { sizes } from './rows/sizes.ts';
import { slowServer } from './rows/slow-server.ts';
import { startUp } from './rows/start-up.ts';
import { openStage } from './stage.ts';
import { type Part, tableOf } from './table.ts';

const ROWS: readonly Row[] = [saturated, slowServer, sizes, redisMemory, firstPost, idle, startUp, intake, sandbox];

const { values } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string', multiple: true } },
});
const rows = ROWS.filter(({ name }) => values.only?.includes(name) ?? true);
const parts: Part[] = [];
{
  await using stage = await openStage(values.quick);
  for (const { name, title, measure } of rows) {
    stage.say(`${title}…`);
    parts.push({ name, title, lines: await measure(stage) });
  }
}
process.stdout.write(`${tableOf(parts)}\n`);
