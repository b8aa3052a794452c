import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTokenSource } from '../../src/api/token.ts';
import { systemClock } from '../../src/core/clock.ts';
import { type Http, openHttp } from '../../src/core/http.ts';
import { connectRedis } from '../../src/redis/connect.ts';
import type { SandboxOptions } from '../../src/sandbox/sandbox-options.ts';
import { type OpenRedis, openTestRedis } from '../support/open-redis.ts';
import { CLIENT_ID, CLIENT_SECRET, type OpenSandbox, openSandbox } from '../support/open-sandbox.ts';
import { until } from '../support/until.ts';

describe('token', () => {
  let stack: AsyncDisposableStack;
  let store: OpenRedis;
  let http: Http;
  let requests: number;

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    store = stack.use(await openTestRedis());
    http = stack.use(openHttp({ connections: 8 }));
    requests = 0;
  });
  afterEach(() => stack.disposeAsync());

  async function sandbox(options: Partial<SandboxOptions> = {}): Promise<OpenSandbox> {
    const onEvent: SandboxOptions['onEvent'] = (event) => {
      if (event.type === 'token') requests += 1;
    };
    return stack.use(await openSandbox({ onEvent, ...options }));
  }

  /** One daemon's view of the token, with a Redis connection of its own. */
  async function daemon(
    api: Pick<OpenSandbox, 'baseUrl' | 'authUrl'>,
    more: { clientSecret?: string; environment?: string } = {},
  ) {
    const redis = await connectRedis(store.server.url);
    stack.defer(() => redis.disconnect());
    return createTokenSource({
      store: { redis, keys: store.keys, time: store.time },
      http,
      clock: systemClock,
      owner: Math.random().toString(),
      target: {
        environment: more.environment ?? 'staging',
        baseUrl: api.baseUrl,
        authUrl: api.authUrl,
        tokenPath: 'auto',
      },
      credentials: { clientId: CLIENT_ID, clientSecret: more.clientSecret ?? CLIENT_SECRET },
    });
  }

  it('is requested once for 200 callers of two daemons', async () => {
    const api = await sandbox();
    const daemons = [await daemon(api), await daemon(api)];
    const tokens = await Promise.all(Array.from({ length: 200 }, async (_, i) => daemons[i % 2]?.get()));
    expect(new Set(tokens.map((token) => token?.value)).size).toBe(1);
    expect(requests).toBe(1);
  });

  it('is requested once after a 401 to all of them, and a late 401 of the old one takes nothing away', async () => {
    const api = await sandbox();
    const daemons = [await daemon(api), await daemon(api)];
    const old = await Promise.all(daemons.map((one) => one.get()));
    await Promise.all(
      daemons.flatMap((one, i) => Array.from({ length: 50 }, () => one.invalidate(old[i]?.fingerprint ?? ''))),
    );
    const renewed = await Promise.all(daemons.map((one) => one.get()));
    await daemons[0]?.invalidate(old[0]?.fingerprint ?? '');
    expect((await daemons[0]?.get())?.value).toBe(renewed[0]?.value);
    expect(renewed[0]?.value).toBe(renewed[1]?.value);
    expect(renewed[0]?.value).not.toBe(old[0]?.value);
    expect(requests).toBe(2);
  });

  it('is renewed ahead of its end, while the old one still serves, without a flood', async () => {
    const api = await sandbox({ tokenLifetime: 2 });
    const tokens = await daemon(api);
    const first = await tokens.get();
    const second = await until('a new token', async () => {
      const token = await tokens.get();
      return token.value !== first.value && token;
    });
    const answer = await api.list(second.value);
    expect(answer.status).toBe(200);
    expect(requests).toBe(2);
  });

  it('is not forgotten for everybody when an older one was refused', async () => {
    const api = await sandbox();
    const [slow, quick] = [await daemon(api), await daemon(api)];
    const old = await slow.get();
    await quick.invalidate(old.fingerprint);
    const renewed = await quick.get();
    await slow.invalidate(old.fingerprint);
    expect((await slow.get()).value).toBe(renewed.value);
    expect(requests).toBe(2);
  });

  it('lies encrypted in Redis', async () => {
    const api = await sandbox();
    const { value } = await (await daemon(api)).get();
    const stored = (await store.redis.get(store.keys.token)) ?? '';
    expect(stored).not.toBe('');
    expect(stored).not.toContain(value);
    expect(Buffer.from(stored.split('.')[1] ?? '', 'base64').toString('latin1')).not.toContain(value);
  });

  it('is not taken from Redis when it was sealed for another place or is damaged', async () => {
    const api = await sandbox();
    const first = await (await daemon(api)).get();
    const elsewhere = await daemon(api, { environment: 'uat' });
    expect((await elsewhere.get()).value).not.toBe(first.value);
    await store.redis.set(store.keys.token, 'abc.AAAA');
    expect((await (await daemon(api)).get()).environment).toBe('staging');
    expect(requests).toBe(3);
  });

  it.each(['/oauth2/token', '/oauth/token'] as const)('finds %s by itself', async (tokenPath) => {
    const api = await sandbox({ tokenPath });
    expect((await (await daemon(api)).get()).value).not.toBe('');
  });

  it('is refused with a clear mend when the credentials are wrong', async () => {
    const api = await sandbox();
    const tokens = await daemon(api, { clientSecret: 'wrong' });
    await expect(tokens.get()).rejects.toMatchObject({
      code: 'token-refused',
      message: expect.stringContaining('invalid_client'),
      remedy: expect.stringContaining('client id and secret'),
    });
  });

  it('is unavailable, not refused, while the endpoint is away', async () => {
    const api = await sandbox();
    await api[Symbol.asyncDispose]();
    await expect((await daemon(api)).get()).rejects.toMatchObject({ code: 'token-unavailable' });
  });
});
