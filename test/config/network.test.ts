import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadNetwork } from '../../src/config/network.ts';
import { secretFilesFrom } from '../../src/config/secret.ts';
import { configOf, LEAST, problemsIn } from '../support/config-text.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const withProxy = (value: string) =>
  LEAST.replace("example.com' }", `example.com', proxy: '${value}' }`);

/** The proxy and its header for each address, with these variables. */
async function proxiesTo(addresses: string[], env: Record<string, string>, text = LEAST) {
  const { proxyTo } = await loadNetwork(configOf(text).config, env);
  return addresses.map((address) => {
    const proxy = proxyTo(new URL(address));
    return (
      proxy && [proxy.url.href, proxy.authorization].filter((one) => one !== undefined).join(' ')
    );
  });
}

const API = 'https://api.example.com';
const PROXY = 'http://proxy.example.com:3128/';
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

describe('the proxy', () => {
  it.each<[string, Record<string, string>, string | undefined]>([
    ['none', {}, undefined],
    ['HTTPS_PROXY', { HTTPS_PROXY: PROXY }, PROXY],
    [
      'https_proxy before HTTPS_PROXY',
      { https_proxy: PROXY, HTTPS_PROXY: 'http://other:1' },
      PROXY,
    ],
    ['one without http://', { HTTPS_PROXY: 'proxy.example.com:3128' }, PROXY],
    ['not that of http addresses', { HTTP_PROXY: PROXY }, undefined],
  ])('of an https address is %s', async (_, env, proxy) => {
    expect(await proxiesTo([API], env)).toEqual([proxy]);
  });

  it('of an http address is HTTP_PROXY', async () => {
    expect(
      await proxiesTo(['http://sandbox:80'], { http_proxy: PROXY, HTTPS_PROXY: 'http://other:1' }),
    ).toEqual([PROXY]);
  });

  it('of the configuration takes precedence, and none switches the variables off', async () => {
    expect(await proxiesTo([API], { HTTPS_PROXY: 'http://other:1' }, withProxy(PROXY))).toEqual([
      PROXY,
    ]);
    expect(await proxiesTo([API], { HTTPS_PROXY: PROXY }, withProxy('none'))).toEqual([undefined]);
    expect(await proxiesTo([API], { HTTPS_PROXY: 'socks5://other:1' }, withProxy('none'))).toEqual([
      undefined,
    ]);
  });

  it('is never used for this machine', async () => {
    const own = ['https://localhost', 'https://127.0.0.1:8443', 'https://[::1]:8443'];
    expect(await proxiesTo(own, { HTTPS_PROXY: PROXY })).toEqual([undefined, undefined, undefined]);
    expect(await proxiesTo(own, {}, withProxy(PROXY))).toEqual([undefined, undefined, undefined]);
  });

  it.each([
    ['*', []],
    [
      'example.com',
      [
        'https://example.net',
        'https://notexample.com',
        'https://10.1.2.3',
        'https://[2001:db8::1]',
      ],
    ],
    [
      '.example.com',
      [
        'https://example.net',
        'https://notexample.com',
        'https://10.1.2.3',
        'https://[2001:db8::1]',
      ],
    ],
    [
      '*.Example.com, example.net',
      ['https://notexample.com', 'https://10.1.2.3', 'https://[2001:db8::1]'],
    ],
    [
      'api.example.com:8443',
      [
        API,
        'https://example.net',
        'https://notexample.com',
        'https://10.1.2.3',
        'https://[2001:db8::1]',
      ],
    ],
    [
      'api.example.com:443 notexample.com',
      ['https://example.net', 'https://10.1.2.3', 'https://[2001:db8::1]'],
    ],
    ['10.1.2.3,[2001:db8::1]', [API, 'https://example.net', 'https://notexample.com']],
  ])('is not used where NO_PROXY=%s says so', async (list, through) => {
    const all = [
      API,
      'https://example.net',
      'https://notexample.com',
      'https://10.1.2.3',
      'https://[2001:db8::1]',
    ];
    for (const text of [LEAST, withProxy(PROXY)]) {
      const found = await proxiesTo(all, { HTTPS_PROXY: PROXY, NO_PROXY: list }, text);
      expect(all.filter((_, index) => found[index] !== undefined)).toEqual(through);
    }
  });

  it('that is not an HTTP proxy is refused, without repeating its password', async () => {
    const refusal = await proxiesTo([API], { HTTPS_PROXY: 'socks5://erp:s3cret@proxy:1080' }).catch(
      String,
    );
    expect(refusal).toContain('HTTPS_PROXY is not the address of an HTTP proxy');
    expect(refusal).not.toContain('s3cret');
    expect(problemsIn(withProxy('socks5://proxy:1080')).join()).toContain(
      'proxy: must be none, or an address such as',
    );
    expect(problemsIn(withProxy('http://proxy:3128/path')).join()).toContain(
      'proxy: must not have a path',
    );
  });
});

describe('credentials of the proxy', () => {
  const [USER, PASSWORD] = ['PO_SYNC_STAGING_PROXY_USER', 'PO_SYNC_STAGING_PROXY_PASSWORD'];

  it('come from files', async () => {
    await using folder = await makeTempFolder();
    await writeFile(path.join(folder.path, 'password'), 'pass:word\n', { mode: 0o600 });
    const env = { HTTPS_PROXY: PROXY, [USER]: 'erp', [`${PASSWORD}_FILE`]: 'password' };
    const { proxyTo, secrets } = await loadNetwork(
      configOf(LEAST).config,
      env,
      secretFilesFrom(folder.path),
    );
    expect(proxyTo(new URL(API))).toEqual({
      url: new URL(PROXY),
      authorization: basic('erp:pass:word'),
    });
    expect(secrets.map((one) => one.reveal())).toContain('pass:word');
  });

  it('in the address are decoded, hidden and not part of the address any more', async () => {
    const env = { HTTPS_PROXY: 'http://e%40p:s3%2Fcret@proxy.example.com:3128' };
    const { proxyTo, secrets } = await loadNetwork(configOf(LEAST).config, env);
    expect(proxyTo(new URL(API))).toEqual({
      url: new URL(PROXY),
      authorization: basic('e@p:s3/cret'),
    });
    expect(secrets.map((one) => one.reveal())).toContain('s3/cret');
  });

  it('are never in the file', () => {
    expect(problemsIn(withProxy('http://erp:s3cret@proxy:3128')).join()).toMatch(
      /proxy: must not contain credentials/,
    );
    expect(problemsIn(withProxy('http://erp:s3cret@proxy:3128')).join()).not.toContain('s3cret');
  });

  it('are refused by halves', async () => {
    await expect(proxiesTo([API], { [USER]: 'erp' })).rejects.toMatchObject({
      code: 'secret-missing',
    });
  });
});

describe('TLS', () => {
  it('files start at the folder of the configuration, and a certificate needs its key', () => {
    const withTls = (tls: string) => LEAST.replace("example.com' }", `example.com', tls: ${tls} }`);
    const { config } = configOf(withTls('{ caFile: tls/ca.pem, minVersion: TLSv1.3 }'));
    expect(config.environments['staging']?.tls).toEqual({
      caFile: '/srv/po/config/tls/ca.pem',
      minVersion: 'TLSv1.3',
    });
    expect(problemsIn(withTls('{ certFile: a.pem }')).join()).toContain(
      'must have certFile and keyFile, or neither',
    );
    expect(problemsIn(withTls('{ minVersion: TLSv1.1 }')).join()).toContain('TLSv1.2, TLSv1.3');
  });

  it('of a source and of a receiver is its own', async () => {
    await using folder = await makeTempFolder();
    const absent = path.join(folder.path, 'absent.pem');
    const source = LEAST.replace(
      / {2}- .*\n/,
      `  - { name: erp, type: export, path: 'https://erp.example.com/o.csv', tls: { caFile: ${absent} } }\n`,
    );
    await expect(loadNetwork(configOf(source).config, {})).rejects.toMatchObject({
      code: 'tls-file-unreadable',
    });
    const notice = `${LEAST}notify:\n  - { on: [paused], webhook: 'https://hooks.example.com', tls: { caFile: ${absent} } }\n`;
    await expect(loadNetwork(configOf(notice).config, {})).rejects.toMatchObject({
      code: 'tls-file-unreadable',
    });
  });
});
