import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/config/secret.ts';
import { PoSyncError } from '../../src/core/errors.ts';
import { loggable } from '../../src/log/loggable.ts';

it('keeps plain values, dates as text, and lists of them', () => {
  const facts = { batch: 'b', attempt: 3, durationMs: 1.5, ok: true, none: null, sources: ['a', 'b'] };
  expect(loggable(facts)).toEqual(facts);
  expect(loggable({ at: new Date(0), big: 5n })).toEqual({ at: '1970-01-01T00:00:00.000Z', big: '5' });
});

it('objects are dropped, because they can contain headers and tokens', () => {
  const facts = {
    request: { headers: { authorization: 'Bearer x' } },
    map: new Map(),
    secretly: undefined,
    run: () => 1,
  };
  expect(loggable({ ...facts, file: 'a.csv', value: new Secret('x') })).toEqual({
    file: 'a.csv',
    secretly: '[redacted]',
  });
  expect(loggable({ list: [{ a: 1 }, 'b'] })).toEqual({ list: ['[redacted]', 'b'] });
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

it('shows the path of a token endpoint', () => {
  expect(loggable({ tokenPath: '/oauth2/token' })).toEqual({ tokenPath: '/oauth2/token' });
});

describe('an error', () => {
  it('becomes its name, code and message, with the stack if it is unexpected', () => {
    const error = Object.assign(new TypeError('no\nway'), { code: 'E_X', headers: { authorization: 'Bearer x' } });
    expect(loggable({ err: error })).toEqual({
      err: {
        name: 'TypeError',
        code: 'E_X',
        message: 'no\\nway',
        stack: expect.arrayContaining([expect.stringMatching(/^at /)]),
      },
    });
  });

  it('that was foreseen has no stack', () => {
    const error = new PoSyncError('file-missing', 'there is no file.', { facts: { file: 'x' } });
    expect(loggable({ err: error })).toEqual({
      err: { name: 'PoSyncError', code: 'file-missing', message: 'there is no file.' },
    });
  });
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

it('bounds long texts and lists', () => {
  const { text, list } = loggable({ text: 'x'.repeat(1_000_000), list: Array(1_000).fill('y') });
  expect([String(text).length, Array.isArray(list) && list.length]).toEqual([2_001, 20]);
});
