import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createLogLines } from '../../src/log/log-lines.ts';

const asIs = (line: string) => line;

it('hands lines over in their form', () => {
  const written: string[] = [];
  createLogLines({ write: (text) => written.push(text) }, (line) => line.toUpperCase()).write('a\n');
  expect(written).toEqual(['A\n']);
});

it('lines that a failing stream lost are counted and logged with the next line that is written', () => {
  const written: string[] = [];
  let full = true;
  const target = {
    write(text: string) {
      if (full) throw new Error('ENOSPC');
      written.push(text);
    },
  };
  const lines = createLogLines(target, asIs);
  lines.write('1\n');
  lines.write('2\n');
  full = false;
  lines.write('3\n');
  lines.write('4\n');
  expect(written).toEqual([
    expect.stringMatching(/^\{"level":"warn",.*"dropped":2,"msg":"log lines lost"\}\n3\n$/),
    '4\n',
  ]);
});

it('drops lines while the reader is too slow', () => {
  let waiting = 9 * 1024 * 1024;
  const written: string[] = [];
  const target = {
    get writableLength() {
      return waiting;
    },
    write: (text: string) => written.push(text),
  };
  const lines = createLogLines(target, asIs);
  lines.write('1\n');
  waiting = 0;
  lines.write('2\n');
  expect(written).toEqual([expect.stringContaining('"dropped":1')]);
  expect(written[0]).toMatch(/2\n$/);
});

it('outlives a stream that fails', async () => {
  const stream = new Writable({ write: (_, __, done) => done(new Error('EPIPE')) });
  const lines = createLogLines(stream, asIs);
  lines.write('1\n');
  await new Promise((resolve) => stream.once('close', resolve));
  lines.write('2\n');
  expect(stream.destroyed).toBe(true);
});

/** A real process that logs `count` lines to its standard output and then says on standard error that it lives. */
function logger(stdout: 'pipe' | number, count: number) {
  const log = JSON.stringify(path.resolve(import.meta.dirname, '../../src/log/log.ts'));
  const program = `
    import { setTimeout as delay } from 'node:timers/promises';
    const { createLog } = await import(${log});
    const log = createLog({ level: 'info', pretty: false, stream: process.stdout });
    for (let n = 0; n < ${count}; n++) { log.info({ attempt: n }, 'line'); await delay(1); }
    process.stderr.write('alive');`;
  return spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', stdout, 'pipe'] });
}

async function lastWords(child: ReturnType<typeof logger>): Promise<[string, number | null]> {
  let text = '';
  child.stderr?.on('data', (data: Buffer) => {
    text += data.toString();
  });
  await once(child, 'close');
  return [text, child.exitCode];
}

describe('a process lives on', () => {
  it('when the reader of its log goes away', async () => {
    const child = logger('pipe', 50);
    const words = lastWords(child);
    child.stdout?.once('data', () => child.stdout?.destroy());
    expect(await words).toEqual(['alive', 0]);
  });

  it('when the disk of its log is full', async () => {
    const full = openSync('/dev/full', 'w');
    try {
      expect(await lastWords(logger(full, 20))).toEqual(['alive', 0]);
    } finally {
      closeSync(full);
    }
  });
});
