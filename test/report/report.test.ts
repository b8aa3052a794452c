import { expect, it } from 'vitest';
import { helpAddress } from '../../src/report/report.ts';

it.each<[string, { host?: string; port?: number; publicUrl?: string }, string | undefined]>([
  [
    'the public address',
    { publicUrl: 'https://po.example.com:8443' },
    'https://po.example.com:8443/for-clerks',
  ],
  [
    'the public one of any port',
    { publicUrl: 'https://po.example.com', port: 0 },
    'https://po.example.com/for-clerks',
  ],
  [
    'that of the host and its port',
    { host: 'po.example.com' },
    'http://po.example.com:9464/for-clerks',
  ],
  ['loopback', {}, 'http://127.0.0.1:9464/for-clerks'],
  ['IPv6', { host: '::1' }, 'http://[::1]:9464/for-clerks'],
  ['IPv6 in brackets', { host: '[fd00::7]' }, 'http://[fd00::7]:9464/for-clerks'],
  ['none for any free port', { port: 0 }, undefined],
  ['none for every IPv4 address', { host: '0.0.0.0' }, undefined],
  ['none for every address', { host: '::' }, undefined],
  ['none for what no browser reads', { host: 'a b' }, undefined],
])('the address of the help is %s', (_, admin, address) => {
  expect(helpAddress({ admin: { host: '127.0.0.1', port: 9464, ...admin } })).toBe(address);
});
