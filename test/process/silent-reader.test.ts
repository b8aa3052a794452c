import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../../src/core/errors.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { until } from '../support/until.ts';
import { credentials, csvOf, openWorkplace } from '../support/workplace.ts';

const LAUNCHER = path.resolve(import.meta.dirname, '../../bin/po-sync');

/** A pipe that takes nothing more: it is full, and nobody reads it. */
async function openFullPipe() {
  const folder = await makeTempFolder();
  const file = path.join(folder.path, 'pipe');
  execFileSync('mkfifo', [file]);
  const fd = openSync(file, constants.O_RDWR | constants.O_NONBLOCK);
  try {
    for (;;) writeSync(fd, 'x'.repeat(4096));
  } catch (error) {
    if (codeOf(error) !== 'EAGAIN') throw error;
  }
  return {
    fd,
    async [Symbol.asyncDispose]() {
      closeSync(fd);
      await folder[Symbol.asyncDispose]();
    },
  };
}

describe('whose log nobody reads', () => {
  it.each([
    ['a daemon', ['start']],
    ['a daemon with its log on standard error', ['start', '--json']],
    ['a run that waits', ['start', '--once', '--max-wait', '10m']],
  ])('%s ends after SIGTERM', async (_, args) => {
    await using pipe = await openFullPipe();
    await using place = await openWorkplace({
      faults: { faults: args.includes('--once') ? [{ kind: 'answer', status: 503 }] : [] },
    });
    const { folder: cwd, config } = place;
    const env = {
      PATH: process.env['PATH'] ?? '',
      ...credentials('STAGING'),
      PO_SYNC_CONFIG: config,
      PO_SYNC_ADMIN_PORT: '0',
    };
    const child = spawn(LAUNCHER, args, { cwd, env, stdio: ['ignore', pipe.fd, pipe.fd] });
    const ended = once(child, 'exit');
    await place.drop('orders.csv', csvOf(3));
    await until('calls', () => place.events.some(({ type }) => type === 'answered'));
    child.kill('SIGTERM');
    expect(await ended).toEqual([args.includes('--once') ? 143 : 0, null]);
  });
});
