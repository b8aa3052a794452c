import type { Redis } from '../src/redis/connect.ts';
import { cpuOf } from './process-figures.ts';

/** What a server did since it began. */
export type RedisFigures = {
  /** Processor time in microseconds. */
  cpu: number;
  /** Commands, those within scripts included. */
  commands: number;
  /** Scripts called. */
  scripts: number;
  /** How often it read from a socket: commands that came together count once, so this is what waited for a round trip. */
  reads: number;
  /** Bytes in use. */
  memory: number;
};

export async function redisFigures(redis: Redis): Promise<RedisFigures> {
  const info = await redis.info('everything');
  const number = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1]);
  const scripts = [...info.matchAll(/^cmdstat_(?:eval|evalsha|fcall):calls=(\d+)/gm)];
  return {
    cpu: cpuOf(number('process_id')),
    commands: number('total_commands_processed'),
    scripts: scripts.reduce((sum, [, calls]) => sum + Number(calls), 0),
    reads: number('total_reads_processed'),
    memory: number('used_memory'),
  };
}

/** What came between two looks. */
export function redisUse(before: RedisFigures, after: RedisFigures): RedisFigures {
  return {
    cpu: after.cpu - before.cpu,
    commands: after.commands - before.commands,
    scripts: after.scripts - before.scripts,
    reads: after.reads - before.reads,
    memory: after.memory - before.memory,
  };
}
