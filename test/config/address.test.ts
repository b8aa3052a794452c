import { describe, expect, it } from 'vitest';
import { addressFault, isLoopback, normalAddress } from '../../src/config/address.ts';

it.each(['127.0.0.1', '127.9.9.9', '::1', '[::1]', 'localhost', 'LOCALHOST', '::ffff:127.0.0.1'])(
  '%s is this machine',
  (host) => {
    expect(isLoopback(host)).toBe(true);
  },
);

it.each(['0.0.0.0', '::', '128.0.0.1', '127.0.0.1.example.com', 'localhost.example.com', '10.0.0.1', '127', ''])(
  '%j may be another machine',
  (host) => {
    expect(isLoopback(host)).toBe(false);
  },
);

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
    expect(normalAddress('HTTPS://Api.Example.com:443/api/v1//')).toBe('https://api.example.com/api/v1');
    expect(normalAddress('https://api.example.com')).toBe('https://api.example.com');
  });
});
