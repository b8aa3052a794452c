import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TokenSettings } from '../../src/api/request-token.ts';
import { type BearerToken, createTokenSource, type TokenSource } from '../../src/api/token.ts';
import { systemClock } from '../../src/core/clock.ts';
import { type Http, openHttp } from '../../src/core/http.ts';
import { connectRedis } from '../../src/redis/connect.ts';
import type { SandboxOptions } from '../../src/sandbox/sandbox-options.ts';
import {
  granted,
  type OddAnswer,
  type OddApi,
  type Oddity,
  oddAt,
  openOddApi,
} from '../support/odd-api.ts';
import { type OpenRedis, openTestRedis } from '../support/open-redis.ts';
import {
  CLIENT_ID,
  CLIENT_SECRET,
  type OpenSandbox,
  openSandbox,
} from '../support/open-sandbox.ts';
import { until } from '../support/until.ts';
import { openWebServer } from '../support/web-server.ts';

describe('token', () => {
  let stack: AsyncDisposableStack;
  let store: OpenRedis;
  let http: Http;
  let requests: number;
  /** Milliseconds that passed for the daemons. */
  let ahead: number;

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    store = stack.use(await openTestRedis());
    http = stack.use(openHttp({ connections: 8 }));
    requests = 0;
    ahead = 0;
  });
  afterEach(() => stack.disposeAsync());

  async function sandbox(options: Partial<SandboxOptions> = {}): Promise<OpenSandbox> {
    const onEvent: SandboxOptions['onEvent'] = (event) => {
      if (event.type === 'token') requests += 1;
    };
    return stack.use(await openSandbox({ onEvent, ...options }));
  }

  /** One daemon's view of the token, with its own Redis connection. */
  async function daemon(
    api: Pick<OpenSandbox, 'baseUrl' | 'authUrl'>,
    more: { clientSecret?: string; environment?: string; token?: Partial<TokenSettings> } = {},
  ) {
    const redis = await connectRedis(store.server.url);
    stack.defer(() => redis.disconnect());
    return createTokenSource({
      store: {
        redis,
        keys: store.keys,
        time: { ...store.time, now: () => store.time.now() + ahead },
      },
      http,
      clock: systemClock,
      owner: Math.random().toString(),
      target: {
        environment: more.environment ?? 'staging',
        baseUrl: api.baseUrl,
        authUrl: api.authUrl,
        token: { path: 'auto', clientAuth: 'form', ...more.token },
      },
      credentials: { clientId: CLIENT_ID, clientSecret: more.clientSecret ?? CLIENT_SECRET },
    });
  }

  /** A token that was accepted. */
  async function used(tokens: TokenSource): Promise<BearerToken> {
    const token = await tokens.get();
    tokens.accepted(token.fingerprint);
    return token;
  }

  it('is requested once for 200 callers of two daemons', async () => {
    const api = await sandbox();
    const daemons = [await daemon(api), await daemon(api)];
    const tokens = await Promise.all(
      Array.from({ length: 200 }, async (_, i) => daemons[i % 2]?.get()),
    );
    expect(new Set(tokens.map((token) => token?.value)).size).toBe(1);
    expect(requests).toBe(1);
  });

  it('that was used is requested once after a 401 to all callers; a late 401 of the old token does not discard the new one', async () => {
    const api = await sandbox();
    const daemons = [await daemon(api), await daemon(api)];
    const old = await Promise.all(daemons.map(used));
    ahead = 31_000;
    await Promise.all(
      daemons.flatMap((one, i) =>
        Array.from({ length: 50 }, () => one.refused(old[i]?.fingerprint ?? '')),
      ),
    );
    const renewed = await Promise.all(daemons.map((one) => one.get()));
    expect(await daemons[0]?.refused(old[0]?.fingerprint ?? '')).toEqual({ kind: 'other' });
    expect((await daemons[0]?.get())?.value).toBe(renewed[0]?.value);
    expect(renewed[0]?.value).toBe(renewed[1]?.value);
    expect(renewed[0]?.value).not.toBe(old[0]?.value);
    expect(requests).toBe(2);
  });

  it('that is fresh is kept after a 401, with growing waits, by calls that began after the last one', async () => {
    const tokens = await daemon(await sandbox());
    const { fingerprint, value } = await tokens.get();
    const began = store.time.now();
    ahead = 10;
    const waits = [];
    for (let i = 0; i < 3; i += 1) waits.push(await tokens.refused(fingerprint));
    expect(waits).toMatchObject([250, 500, 1_000].map((wait) => ({ kind: 'fresh', wait })));
    expect(await tokens.refused(fingerprint, began)).toMatchObject({ wait: 1_000 });
    expect((await tokens.get()).value).toBe(value);
    expect(requests).toBe(1);
  });

  it('that was never accepted is replaced in half a minute, the next one later', async () => {
    const tokens = await daemon(await sandbox());
    const ages = [];
    for (const patience of [30_000, 60_000]) {
      const { fingerprint } = await tokens.get();
      ahead += patience - 5_000;
      ages.push(await tokens.refused(fingerprint));
      ahead += 6_000;
      ages.push(await tokens.refused(fingerprint));
    }
    expect(ages.map(({ kind }) => kind)).toEqual(['fresh', 'replaced', 'fresh', 'replaced']);
    expect(requests).toBe(2);
  });

  it('is renewed ahead of its end, while the old one is still used, with one request', async () => {
    const api = await sandbox({ tokenLifetime: 2 });
    const tokens = await daemon(api);
    const first = await used(tokens);
    const second = await until('a new token', async () => {
      const token = await tokens.get();
      return token.value !== first.value && token;
    });
    // One call tries it; it takes the place of the one in use when the API accepted it.
    expect((await tokens.get()).value).toBe(first.value);
    expect(await tokens.refused(second.fingerprint)).toEqual({ kind: 'other' });
    expect((await tokens.get()).value).toBe(first.value);
    tokens.accepted(second.fingerprint);
    expect((await tokens.get()).value).toBe(second.value);
    expect(requests).toBe(2);
  });

  it('is kept for every daemon when an older one was refused', async () => {
    const api = await sandbox();
    const [slow, quick] = [await daemon(api), await daemon(api)];
    const old = await used(slow);
    await used(quick);
    ahead = 31_000;
    await quick.refused(old.fingerprint);
    const renewed = await quick.get();
    await slow.refused(old.fingerprint);
    expect((await slow.get()).value).toBe(renewed.value);
    expect(requests).toBe(2);
  });

  it('is not requested again at once after a refusal that any daemon got', async () => {
    const api = await sandbox();
    const until = store.time.now() + 3_600_000;
    const refusal = JSON.stringify({ code: 'token-refused', message: 'No.', until });
    await store.redis.set(store.keys.tokenFailure, refusal);
    await expect((await daemon(api)).get()).rejects.toMatchObject({
      code: 'token-refused',
      message: 'No.',
    });
    expect(requests).toBe(0);
    await store.redis.del(store.keys.tokenFailure);
    expect((await (await daemon(api)).get()).value).not.toBe('');
  });

  it('is encrypted in Redis', async () => {
    const api = await sandbox();
    const { value } = await (await daemon(api)).get();
    const stored = (await store.redis.get(store.keys.token)) ?? '';
    expect(stored).not.toBe('');
    expect(stored).not.toContain(value);
    expect(Buffer.from(stored.split('.')[1] ?? '', 'base64').toString('latin1')).not.toContain(
      value,
    );
  });

  it('in Redis is ignored when it was sealed for another place or is damaged', async () => {
    const api = await sandbox();
    const first = await (await daemon(api)).get();
    const elsewhere = await daemon(api, { environment: 'uat' });
    expect((await elsewhere.get()).value).not.toBe(first.value);
    await store.redis.set(store.keys.token, 'abc.AAAA');
    expect((await (await daemon(api)).get()).environment).toBe('staging');
    expect(requests).toBe(3);
  });

  it.each<Partial<TokenSettings>>([
    { scope: 'read' },
    { clientAuth: 'basic' },
    { audience: 'https://api.example.com' },
    { resource: 'urn:api' },
  ])('in Redis is ignored by a daemon that asks with %j', async (token) => {
    const api = stack.use(await openOddApi());
    expect((await (await daemon(api)).get()).value).toBe('token-1');
    expect((await (await daemon(api, { token })).get()).value).toBe('token-2');
    expect((await (await daemon(api, { token })).get()).value).toBe('token-2');
  });

  it.each(['/oauth2/token', '/oauth/token'] as const)('is found at %s', async (tokenPath) => {
    const api = await sandbox({ tokenPath });
    expect((await (await daemon(api)).get()).value).not.toBe('');
  });

  it('is refused with a clear remedy when the credentials are wrong', async () => {
    const api = await sandbox();
    const tokens = await daemon(api, { clientSecret: 'wrong' });
    await expect(tokens.get()).rejects.toMatchObject({
      code: 'token-refused',
      message: expect.stringContaining('invalid_client'),
      remedy: expect.stringContaining('client ID and the client secret'),
    });
  });

  it('is unavailable, not refused, while the endpoint is down', async () => {
    const api = await sandbox();
    await api[Symbol.asyncDispose]();
    await expect((await daemon(api)).get()).rejects.toMatchObject({ code: 'token-unavailable' });
  });

  describe('is requested', () => {
    /** What the endpoint receives. */
    async function requested(token: Partial<TokenSettings>, clientSecret = CLIENT_SECRET) {
      const got: { authorization?: string | undefined; form: Record<string, string> }[] = [];
      const server = stack.use(
        await openWebServer(async (request, response) => {
          const form = Object.fromEntries(new URLSearchParams(await text(request)));
          got.push({ authorization: request.headers.authorization, form });
          response.end(JSON.stringify(granted('t')));
        }),
      );
      const authUrl = `http://127.0.0.1:${server.port}`;
      const tokens = await daemon({ baseUrl: authUrl, authUrl }, { token, clientSecret });
      await tokens.get();
      return got[0];
    }

    it('with credentials, scope, audience and resource as form fields', async () => {
      const more = { scope: 'read write', audience: 'https://api.example.com', resource: 'urn:a' };
      expect(await requested(more)).toEqual({
        form: {
          grant_type: 'client_credentials',
          client_id: CLIENT_ID,
          client_secret: CLIENT_SECRET,
          ...more,
        },
      });
    });

    it('with Basic authentication, its credentials encoded like form fields first', async () => {
      expect(await requested({ clientAuth: 'basic' }, 'a b:ü%+')).toEqual({
        authorization: `Basic ${Buffer.from(`${CLIENT_ID}:a+b%3A%C3%BC%25%2B`).toString('base64')}`,
        form: { grant_type: 'client_credentials' },
      });
    });
  });

  describe('from an unusual endpoint', () => {
    async function oddly(answer: Oddity): Promise<OddApi> {
      return stack.use(await openOddApi(oddAt('token', answer)));
    }

    it.each<[string, OddAnswer]>([
      ['403 and a page', { status: 403, body: '<html>Forbidden</html>' }],
      ['200 and a page', { status: 200, body: '<html>Welcome</html>' }],
      ['401 without OAuth', { status: 401, body: { message: 'Unauthorized' } }],
      ['403 and JSON of a gateway', { status: 403, body: { status: 403, error: 'Forbidden' } }],
      ['500', { status: 500 }],
      ['404', { status: 404 }],
    ])('is asked for at the other path when the first answers %s', async (_, answer) => {
      const api = await oddly(({ path }) => (path === '/oauth/token' ? undefined : answer));
      expect((await (await daemon(api)).get()).value).toBe('token-2');
    });

    it('is not requested at the other path after a clear refusal', async () => {
      const api = await oddly(() => ({ status: 401, body: { error: 'invalid_client' } }));
      await expect((await daemon(api)).get()).rejects.toMatchObject({ code: 'token-refused' });
      expect(api.calls).toHaveLength(1);
    });

    it.each<[number, string]>([
      [401, 'token-refused'],
      [403, 'token-unavailable'],
      [404, 'token-refused'],
      [500, 'token-unavailable'],
      [200, 'token-unavailable'],
    ])('that answers HTTP %i and a page at both paths is %s', async (status, code) => {
      const api = await oddly(() => ({ status, body: '<html>' }));
      await expect((await daemon(api)).get()).rejects.toMatchObject({ code });
      expect(api.calls.map(({ path }) => path)).toEqual(['/oauth2/token', '/oauth/token']);
    });

    it('is reported without secrets and control characters, and shortened', async () => {
      const error = `invalid_client ${CLIENT_SECRET}\u001b[2J${'x'.repeat(5000)}`;
      const api = await oddly(() => ({ status: 401, body: { error } }));
      const thrown = await (await daemon(api)).get().catch((reason: unknown) => reason);
      const text = `${String(thrown)} ${JSON.stringify(thrown)} ${await store.redis.get(store.keys.tokenFailure)}`;
      expect(text).not.toContain(CLIENT_SECRET);
      expect(text).not.toContain('\u001b');
      expect(text).not.toContain('x'.repeat(200));
    });

    it("is reported with the endpoint's description, without secrets and control characters, and shortened", async () => {
      const error_description = `client is disabled\n${CLIENT_SECRET} ${encodeURIComponent(CLIENT_SECRET)}\u202e${'x'.repeat(500)}`;
      const api = await oddly(() => ({
        status: 401,
        body: { error: 'invalid_client', error_description },
      }));
      const thrown = await (await daemon(api)).get().catch((reason: unknown) => reason);
      expect(thrown).toMatchObject({
        code: 'token-refused',
        message: expect.stringMatching(
          /refuses the credentials: invalid_client: client is disabled .*x \(HTTP 401\)\.$/,
        ),
        remedy: expect.stringContaining("ask the API's owner"),
      });
      const text = `${String(thrown)} ${JSON.stringify(thrown)} ${await store.redis.get(store.keys.tokenFailure)}`;
      for (const never of [CLIENT_SECRET, '\u202e', 'x'.repeat(200)])
        expect(text).not.toContain(never);
    });

    it.each<[string, unknown, string, string]>([
      [
        'an error',
        { error: `invalid_client ${CLIENT_SECRET}`, error_description: 'The app is disabled.' },
        'token-refused',
        'refuses the credentials: invalid_client [redacted]: The app is disabled (HTTP 200).',
      ],
      [
        'an error that is not of OAuth',
        { error: 'quota_exceeded', access_token: null },
        'token-unavailable',
        'answers HTTP 200 without access_token: quota_exceeded',
      ],
      [
        'a page',
        '<html><title>Sign in',
        'token-unavailable',
        'HTTP 200 with an answer that is not a JSON object',
      ],
      ['no token', {}, 'token-unavailable', 'HTTP 200 without access_token'],
      ['an empty one', bearer(''), 'token-unavailable', 'an access_token of 0 characters'],
      ['a number', bearer(7), 'token-unavailable', 'an access_token that is no text'],
      [
        'a line break',
        bearer('abc\ndef'),
        'token-unavailable',
        'an access_token that no header can carry: U+000A at position 4 of 7',
      ],
      [
        'an umlaut',
        bearer('geheimer-schlüssel'),
        'token-unavailable',
        'an access_token that no header can carry: U+00FC at position 14 of 18',
      ],
      [
        'too many characters',
        bearer('x'.repeat(20_000)),
        'token-unavailable',
        'an access_token of 20000 characters; po-sync sends at most 8192',
      ],
      [
        'another type',
        { ...Object(bearer('abc')), token_type: 'mac' },
        'token-unavailable',
        'token_type "mac" instead of Bearer',
      ],
      ['no type', { access_token: 'abc' }, 'token-unavailable', 'HTTP 200 without token_type'],
    ])('that answers HTTP 200 with %s is reported with just that', async (_, body, code, words) => {
      const api = await oddly(() => ({ status: 200, body }));
      const thrown = await (await daemon(api)).get().catch((reason: unknown) => reason);
      expect(thrown).toMatchObject({ code, message: expect.stringContaining(words) });
      for (const never of [CLIENT_SECRET, 'geheimer', 'abc'])
        expect(JSON.stringify([thrown, String(thrown)])).not.toContain(never);
    });

    it('is reported with the words of a failure', async () => {
      const api = await oddly(() => ({
        status: 503,
        body: { error: 'temporarily_unavailable', error_description: 'Back at 9.' },
      }));
      await expect((await daemon(api)).get()).rejects.toMatchObject({
        message: expect.stringMatching(/answers HTTP 503: temporarily_unavailable: Back at 9$/),
      });
    });

    it('is requested again at once by a daemon that starts, after any earlier failure', async () => {
      const api = await oddly(({ nth }) =>
        nth === 1 ? { status: 401, body: { error: 'invalid_client' } } : undefined,
      );
      await expect((await daemon(api)).first()).rejects.toMatchObject({ code: 'token-refused' });
      await (await daemon(api)).first();
    });

    it('is requested by no daemon before the endpoint asked for, also not by one that starts', async () => {
      const api = await oddly(({ nth }) =>
        nth <= 2 ? { status: 503, headers: { 'retry-after': '30' } } : undefined,
      );
      const asked = { code: 'token-unavailable', facts: { retryAfterMs: expect.any(Number) } };
      await expect((await daemon(api)).get()).rejects.toMatchObject(asked);
      const other = await daemon(api);
      expect(await other.first()).toBe(false);
      expect(api.calls).toHaveLength(2);
      ahead = 30_000;
      expect(await other.first()).toBe(true);
    });

    it('is not awaited at the start while the endpoint is down', async () => {
      const api = await oddly(() => ({ drop: true }));
      await (await daemon(api)).first();
    });
  });
});

function bearer(access_token: unknown): unknown {
  return { access_token, token_type: 'Bearer', expires_in: 3600 };
}
