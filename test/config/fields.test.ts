import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addressFault,
  formatDuration,
  isLoopback,
  normalAddress,
  parseDuration,
} from '../../src/config/fields.ts';

it.each([
  ['250ms', 250],
  ['30s', 30_000],
  ['5m', 300_000],
  ['1h', 3_600_000],
  ['90d', 7_776_000_000],
  ['0s', 0],
  ['007s', 7_000],
])('reads %s', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

it.each([
  '',
  '30',
  's',
  '30 s',
  ' 30s',
  '30s ',
  '1.5h',
  '-1s',
  '+1s',
  '1e3s',
  '30S',
  '1w',
  '1min',
  '0x10s',
  '1h30m',
  '９s',
  '1234567890s',
  '30s\n',
])('does not read %j', (text) => {
  expect(parseDuration(text)).toBeUndefined();
});

it('writes milliseconds in the largest unit, and reads the same value back', () => {
  fc.assert(
    fc.property(fc.nat({ max: 900_000_000 }), (ms) => parseDuration(formatDuration(ms)) === ms),
  );
  expect([0, 999, 60_000, 90_000, 86_400_000].map(formatDuration)).toEqual([
    '0ms',
    '999ms',
    '1m',
    '90s',
    '1d',
  ]);
});

it.each(['127.0.0.1', '127.9.9.9', '::1', '[::1]', 'localhost', 'LOCALHOST', '::ffff:127.0.0.1'])(
  '%s is this machine',
  (host) => {
    expect(isLoopback(host)).toBe(true);
  },
);

it.each([
  '0.0.0.0',
  '::',
  '128.0.0.1',
  '127.0.0.1.example.com',
  'localhost.example.com',
  '10.0.0.1',
  '127',
  '',
])('%j may be another machine', (host) => {
  expect(isLoopback(host)).toBe(false);
});

describe('an address', () => {
  it.each([
    'https://api.example.com/api/v1',
    'https://api.example.com:8443',
    'HTTPS://API.example.com/',
    'http://127.0.0.1:4010/api/v1',
    'http://[::1]:4010',
    'http://localhost',
  ])('%s is right', (text) => {
    expect(addressFault(text)).toBeUndefined();
  });

  it.each([
    ['http://api.example.com', 'https://'],
    ['http://127.0.0.1.example.com', 'https://'],
    ['https://user:pw@api.example.com', 'credentials'],
    ['https://user@api.example.com', 'credentials'],
    ['https://api.example.com?x=1', 'query'],
    ['https://api.example.com?', 'query'],
    ['https://api.example.com#top', 'fragment'],
    ['ftp://api.example.com', 'complete address'],
    ['api.example.com', 'complete address'],
    ['https:/api.example.com', 'complete address'],
    ['https:api.example.com', 'complete address'],
    ['https://', 'complete address'],
    ['https://api.exam ple.com', 'complete address'],
    ['https://api.example.com\\@evil.example', 'complete address'],
    ['javascript:alert(1)', 'complete address'],
    ['', 'complete address'],
  ])('%s is refused for its %s', (text, why) => {
    expect(addressFault(text)).toContain(why);
  });

  it('has one spelling', () => {
    expect(normalAddress('HTTPS://Api.Example.com:443/api/v1//')).toBe(
      'https://api.example.com/api/v1',
    );
    expect(normalAddress('https://api.example.com')).toBe('https://api.example.com');
  });
});
