// `npm run bench` runs all rows; see docs/performance.md.
import { compareWith } from './against.ts';
import { type Options, readOptions } from './options.ts';
import { type Form, keepResult, lookAround, type Result } from './result.ts';
import { firstPost } from './rows/first-post.ts';
import { idle } from './rows/idle.ts';
import { redisMemory } from './rows/redis-memory.ts';
import type { Row } from './rows/row.ts';
import { saturated } from './rows/saturated.ts';
import { sizes } from './rows/sizes.ts';
import { slowServer } from './rows/slow-server.ts';
import { openStage } from './stage.ts';
import { type Part, tableOf } from './table.ts';

const ROWS: readonly Row[] = [saturated, slowServer, sizes, redisMemory, firstPost, idle];

/** A higher load before the run means that other programs disturb the measurement. */
const BUSY = 0.5;

const options = readOptions(
  process.argv.slice(2),
  ROWS.map(({ name }) => name),
);
if (options.against === undefined) process.stdout.write(`${tableOf((await measureAll()).parts)}\n`);
else process.stdout.write(`${await compareWith(options.against, options)}\n`);

/** Stops everything it started, also when interrupted. A row that fails does not affect the others. */
async function measureAll(): Promise<Result> {
  const stop = onStop();
  const [at, ground] = [new Date().toISOString(), await lookAround()];
  const parts: Part[] = [];
  if (ground.load > BUSY)
    process.stderr.write(
      `load is ${ground.load.toFixed(1)}: throughput figures are not reliable\n`,
    );
  {
    await using stage = await openStage({ quick: options.quick });
    for (const { name, title, measure } of ROWS.filter(
      (row) => options.only?.includes(row.name) ?? true,
    )) {
      stage.say(title);
      try {
        parts.push({ name, title, lines: await Promise.race([measure(stage), stop.promise]) });
      } catch (error) {
        if (stop.signal.aborted) throw error;
        stage.say(`  failed: ${String(error)}`);
        process.exitCode = 1;
      }
    }
  }
  const run = { at, form: formOf(options), ground, parts };
  process.stderr.write(`stored in ${await keepResult(run, options.results)}\n`);
  return run;
}

function formOf({ quick, only }: Options): Form {
  if (only) return 'part';
  return quick ? 'quick' : 'whole';
}

function onStop(): { signal: AbortSignal; promise: Promise<never> } {
  const controller = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => undefined);
  controller.signal.addEventListener('abort', () => reject(controller.signal.reason));
  for (const name of ['SIGINT', 'SIGTERM'])
    process.once(name, () => controller.abort(new Error(`ended by ${name}`)));
  return { signal: controller.signal, promise };
}
