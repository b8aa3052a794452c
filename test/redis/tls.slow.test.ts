import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadRedisSecrets } from '../../src/config/secrets.ts';
import type { TlsSettings } from '../../src/core/tls-files.ts';
import { connectRedis } from '../../src/redis/connect.ts';
import { type Certificate, HAS_OPENSSL, openAuthority } from '../support/certificates.ts';
import { configOf, LEAST, problemsIn } from '../support/config-text.ts';
import { freePort } from '../support/free-port.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { LOGIN, startTestRedis } from '../support/test-redis.ts';

let stack: AsyncDisposableStack;
let folder: string;
let authority: Awaited<ReturnType<typeof openAuthority>>;
let client: Certificate;
let url: string;

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  if (!HAS_OPENSSL) return;
  folder = stack.use(await makeTempFolder()).path;
  authority = await openAuthority(folder);
  const files = await authority.issue('redis', { names: ['localhost'] });
  client = await authority.issue('client', { names: ['po-sync'], passphrase: 'pass phrase' });
  const port = await freePort();
  const settings = {
    'tls-port': port,
    'tls-cert-file': files.cert,
    'tls-key-file': files.key,
    'tls-ca-cert-file': authority.caFile,
    'tls-auth-clients': 'yes',
  };
  stack.use(await startTestRedis({ settings }));
  url = `rediss://${LOGIN}localhost:${port}/0`;
});

afterAll(() => stack.disposeAsync());

/** Connects as a daemon does, with `redis.tls` of its configuration. */
async function open(tls: TlsSettings, passphrase = 'pass phrase') {
  const { config } = configOf(
    LEAST.replace('environments:', `redis: ${JSON.stringify({ url, tls })}\nenvironments:`),
  );
  const credentials = await loadRedisSecrets(config, {
    PO_SYNC_REDIS_TLS_PASSPHRASE: passphrase,
  });
  return connectRedis({ address: config.redis, credentials }, { within: 10_000 });
}

const files = ({ cert, key }: Certificate) => ({
  caFile: authority.caFile,
  certFile: cert,
  keyFile: key,
});

describe.skipIf(!HAS_OPENSSL)('Redis by TLS', () => {
  it('is reached with a private CA and a client certificate, also by duplicates of the connection', async () => {
    const redis = await open(files(client));
    const copy = redis.duplicate();
    expect(await redis.ping()).toBe('PONG');
    expect(await copy.ping()).toBe('PONG');
    redis.disconnect();
    copy.disconnect();
  });

  it('without the CA is reported with the key to set', async () => {
    const { caFile: _, ...rest } = files(client);
    await expect(open(rest)).rejects.toMatchObject({
      code: 'redis-unreachable',
      remedy: expect.stringContaining('redis.tls.caFile'),
    });
  });

  it('without the client certificate is reported with the keys to set', async () => {
    await expect(open({ caFile: authority.caFile })).rejects.toMatchObject({
      code: 'redis-unreachable',
      remedy: expect.stringContaining('redis.tls.certFile'),
    });
  });
});

it('redis.tls needs a rediss address', () => {
  const text = LEAST.replace(
    'environments:',
    'redis: { url: redis://127.0.0.1, tls: { minVersion: TLSv1.3 } }\nenvironments:',
  );
  expect(problemsIn(text).join()).toContain(
    'redis.tls: needs an address that begins with rediss://',
  );
});
