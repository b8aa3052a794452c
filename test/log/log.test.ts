import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/config/secret.ts';
import { batchTrouble } from '../../src/log/events/batch.ts';
import { redisTrouble } from '../../src/log/events/delivery.ts';
import { createLog, createLogLines, type LogOptions, loggable } from '../../src/log/log.ts';
import { createRedaction } from '../../src/log/redaction.ts';

function openLog(more: Partial<LogOptions> = {}) {
  const lines: string[] = [];
  const log = createLog({
    level: 'info',
    pretty: false,
    stream: { write: (text) => lines.push(text) },
    ...more,
  });
  return { log, lines };
}

it('writes one JSON object a line with level, time, facts and message', () => {
  const { log, lines } = openLog();
  const facts = {
    batch: 'b',
    order: '4711',
    environment: 'uat',
    attempt: 2,
    durationMs: 12,
    outcome: 'accepted',
  };
  log.info(facts, 'order settled');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^\{.*\}\n$/);
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    level: 'info',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    ...facts,
    msg: 'order settled',
  });
});

it('writes nothing below its level', () => {
  const { log, lines } = openLog({ level: 'warn' });
  log.info({}, 'quiet');
  log.warn({}, 'loud');
  expect(lines).toHaveLength(1);
  expect(openLog({ level: 'silent' }).log.isLevelEnabled('fatal')).toBe(false);
});

describe('no line contains a secret', () => {
  const canary = 'canary-4711/+ü';
  const secrets = [new Secret(canary)];

  it.each([
    ['in a fact', { file: `x ${canary} y` }, 'read'],
    ['in the message', {}, `failed with ${canary}`],
    ['in an error', { err: new Error(`no ${canary}`, { cause: new Error(canary) }) }, 'failed'],
    ['encoded', { file: encodeURIComponent(canary) }, 'read'],
    ['in a Basic header', { file: Buffer.from(`id:${canary}`).toString('base64') }, 'read'],
    ['under a telling name', { clientSecret: canary, deep: { token: canary } }, 'read'],
    ['as a secret', { value: secrets[0], list: secrets }, 'read'],
    ['as the name of a fact', { [canary]: 1 }, 'read'],
  ])('%s', (_, facts, message) => {
    for (const pretty of [false, true]) {
      const { log, lines } = openLog({ secrets, pretty });
      log.error(facts, message);
      log.child(facts).error(facts, message);
      const text = lines.join('');
      expect(lines).toHaveLength(2);
      expect(text).not.toMatch(/canary/);
      expect(text).not.toContain(encodeURIComponent(canary));
      expect(text).not.toContain(Buffer.from(`id:${canary}`).toString('base64').slice(6, 20));
    }
  });

  it('when it is added later, as tokens are', () => {
    const redaction = createRedaction();
    const { log, lines } = openLog({ redaction });
    redaction.hideSecret('token-canary');
    log.info({ file: 'token-canary' }, 'read');
    expect(lines.join()).not.toContain('canary');
  });
});

it('lines contain no objects', () => {
  const { log, lines } = openLog();
  log.info({ request: { headers: { authorization: 'Bearer abc' } }, file: 'a.csv' }, 'read');
  expect(lines.join()).not.toContain('abc');
});

describe('for people', () => {
  it('is one line an event, with the facts behind the message', () => {
    const { log, lines } = openLog({ pretty: true });
    log.info({ file: 'my orders.csv', batch: 'b-1', attempt: 2 }, 'file claimed');
    expect(lines).toEqual([
      expect.stringMatching(
        /^\[?\d\d:\d\d:\d\d\.\d{3}\]? INFO:? +file claimed {2}file="my orders\.csv" {2}batch=b-1 {2}attempt=2\n$/,
      ),
    ]);
  });

  it('has color only where it is enabled', () => {
    for (const colour of [false, true]) {
      const { log, lines } = openLog({ pretty: true, colour });
      log.warn({}, 'careful');
      expect(lines.join().includes('\u001b[')).toBe(colour);
    }
  });

  it('cannot be forged by a file name', () => {
    const { log, lines } = openLog({ pretty: true });
    log.info({ file: 'x\n[12:00:00.000] INFO: forged\u001b[2J' }, 'read');
    expect(lines).toHaveLength(1);
    expect(lines.join().trimEnd()).not.toMatch(/\p{Cc}/u);
  });
});

it('keeps plain values', () => {
  const facts = { batch: 'b', attempt: 3, durationMs: 1.5, ok: true, none: null };
  expect(loggable(facts)).toEqual(facts);
});

it('objects are dropped, because they can contain headers and tokens', () => {
  const facts = {
    request: { headers: { authorization: 'Bearer x' } },
    map: new Map(),
    secretly: undefined,
    run: () => 1,
  };
  const more = { file: 'a.csv', value: new Secret('x'), err: new Error('x'), list: ['x'] };
  expect(loggable({ ...facts, ...more })).toEqual({ file: 'a.csv' });
});

it.each([
  'token',
  'accessToken',
  'access_token',
  'clientSecret',
  'password',
  'Authorization',
  'set-cookie',
  'apiKey',
  'credentials',
])('hides what is called %s, unless it counts', (name) => {
  expect(loggable({ [name]: 'x' })).toEqual({ [name]: '[redacted]' });
  expect(loggable({ [name]: 7 })).toEqual({ [name]: 7 });
});

it.each([
  ['a\nb', 'a\\nb'],
  ['\u001b[2Jgone', '\\u001b[2Jgone'],
  ['\u009b2J', '\\u009b2J'],
  ['invoice\u202efdp.csv', 'invoice\\u202efdp.csv'],
  ['a\u200bb\ufeff', 'a\\u200bb\\ufeff'],
  ['\u{e0041}', '\\udb40\\udc41'],
  ['Bestellung Größe 漢字 🚚.csv', 'Bestellung Größe 漢字 🚚.csv'],
])('shows what a terminal would obey or nobody could see: %j', (file, shown) => {
  expect(loggable({ file })).toEqual({ file: shown });
});

it('bounds long texts', () => {
  const { text } = loggable({ text: 'x'.repeat(1_000_000) });
  expect(String(text)).toHaveLength(2_001);
});

const asIs = (line: string) => line;

it('hands lines over in their form', () => {
  const written: string[] = [];
  createLogLines({ write: (text) => written.push(text) }, (line) => line.toUpperCase()).write(
    'a\n',
  );
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

/**
 * A real process that logs `count` lines to its standard output and then reports on standard error that it is running.
 */
function logger(stdout: 'pipe' | number, count: number) {
  const log = JSON.stringify(path.resolve(import.meta.dirname, '../../src/log/log.ts'));
  const program = `
    import { setTimeout as delay } from 'node:timers/promises';
    const { createLog } = await import(${log});
    const log = createLog({ level: 'info', pretty: false, stream: process.stdout });
    for (let n = 0; n < ${count}; n++) { log.info({ attempt: n }, 'line'); await delay(1); }
    process.stderr.write('alive');`;
  return spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', stdout, 'pipe'],
  });
}

async function lastWords(child: ReturnType<typeof logger>): Promise<[string, number | null]> {
  let text = '';
  child.stderr?.on('data', (data: Buffer) => {
    text += data.toString();
  });
  await once(child, 'close');
  return [text, child.exitCode];
}

describe('a process keeps running', () => {
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

it('a failure that repeats is logged once, then with growing gaps, and after a quiet time as a new one', () => {
  let at = 0;
  const lines: Record<string, unknown>[] = [];
  const write = (text: string) => lines.push(JSON.parse(text) as Record<string, unknown>);
  const log = createLog({ level: 'info', pretty: false, stream: { write }, now: () => at });
  for (; at < 60_000; at += 1_000) {
    batchTrouble(log, { batch: 'one', reason: 'the disk is full' });
    if (at === 5_000) batchTrouble(log, { batch: 'two', reason: 'the disk is full' });
  }
  const seen = () => lines.splice(0).map(({ batch, repeated = 0 }) => [batch, repeated]);
  // After 0, 10 and 30 seconds.
  expect(seen()).toEqual([
    ['one', 0],
    ['two', 0],
    ['one', 9],
    ['one', 19],
  ]);
  at += 3_600_000;
  batchTrouble(log, { batch: 'one', reason: 'the disk is full' });
  expect(seen()).toEqual([['one', 0]]);
});

it('an outage of Redis that several connections report is logged once, then with growing gaps; a later one at once', () => {
  let at = 0;
  const times: number[] = [];
  const log = createLog({
    level: 'info',
    pretty: false,
    stream: { write: () => times.push(at / 1000) },
    now: () => at,
  });
  const outage = (end: number) => {
    for (; at < end; at += 1_000)
      for (let i = 0; i < 5; i++) redisTrouble(log, { reason: 'connect ECONNREFUSED' });
  };
  outage(100_000);
  expect(times.splice(0)).toEqual([0, 10, 30, 70]);
  at += 61_000;
  outage(175_000);
  expect(times).toEqual([161, 171]);
});
