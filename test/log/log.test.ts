import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/config/secret.ts';
import { createLog, type LogOptions } from '../../src/log/log.ts';
import { createRedaction } from '../../src/log/redaction.ts';

function openLog(more: Partial<LogOptions> = {}) {
  const lines: string[] = [];
  const log = createLog({ level: 'info', pretty: false, stream: { write: (text) => lines.push(text) }, ...more });
  return { log, lines };
}

it('writes one JSON object a line with level, time, facts and message', () => {
  const { log, lines } = openLog();
  const facts = { batch: 'b', order: '4711', environment: 'uat', attempt: 2, durationMs: 12, outcome: 'accepted' };
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
    log.info({ file: 'my orders.csv', batch: 'b-1', attempt: 2, sources: ['a'] }, 'file claimed');
    expect(lines).toEqual([
      expect.stringMatching(
        /^\[?\d\d:\d\d:\d\d\.\d{3}\]? INFO:? +file claimed {2}file="my orders\.csv" {2}batch=b-1 {2}attempt=2 {2}sources=\["a"\]\n$/,
      ),
    ]);
  });

  it('has colour only where it is wanted', () => {
    for (const colour of [false, true]) {
      const { log, lines } = openLog({ pretty: true, colour });
      log.warn({}, 'careful');
      expect(lines.join().includes('\u001b[')).toBe(colour);
    }
  });

  it('cannot be forged or steered by a file name', () => {
    const { log, lines } = openLog({ pretty: true });
    log.info({ file: 'x\n[12:00:00.000] INFO: forged\u001b[2J' }, 'read');
    expect(lines).toHaveLength(1);
    expect(lines.join().trimEnd()).not.toMatch(/\p{Cc}/u);
  });
});
