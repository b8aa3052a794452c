import type { Redis } from '../src/redis/connect.ts';
import { cpuOf } from './process-figures.ts';

/** The work of a server since its start. */
export type RedisFigures = {
  /** Processor time in microseconds. */
  cpu: number;
  /** Commands, including those in scripts. */
  commands: number;
  /** Scripts called. */
  scripts: number;
  /** Reads from sockets: commands that arrive together count once, so this is the number of round trips. */
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

/** The difference between two readings. */
export function redisUse(before: RedisFigures, after: RedisFigures): RedisFigures {
  return {
    cpu: after.cpu - before.cpu,
    commands: after.commands - before.commands,
    scripts: after.scripts - before.scripts,
    reads: after.reads - before.reads,
    memory: after.memory - before.memory,
  };
}
