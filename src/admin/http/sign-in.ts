import { PoSyncError } from '../../core/errors.ts';
import { html } from '../../report/page/html.ts';
import { framePage } from '../dashboard/frame.ts';
import type { Guard } from './guard.ts';
import { jsonReply, type Principal, problemReply, type Reply, type Route } from './route.ts';
import { NO_COOKIE, type Sessions } from './session.ts';

type SignInDeps = { guard: Guard; sessions: Sessions; environment: string };

/** The login of the dashboard: by a token and a name, or by a one-time link of `po-sync dashboard`. */
export function signInRoutes({ guard, sessions, environment }: SignInDeps): Route[] {
  /** A session for the owner of a token. Metrics alone need no page. */
  function byToken(token: string, name: string, address: string): Principal | Reply {
    const person = guard.byToken(token.trim(), onlyText(name), address);
    return 'role' in person && person.role === 'metrics' ? guard.failed(address) : person;
  }

  async function signIn(
    found: Principal | Reply,
    done: (person: Principal) => Reply,
  ): Promise<Reply> {
    if ('status' in found) return found;
    const cookie = await sessions.open(found);
    if (cookie === undefined) throw noSession();
    const reply = done(found);
    return { ...reply, headers: { ...reply.headers, 'set-cookie': cookie } };
  }

  return [
    {
      method: 'GET',
      path: '/login',
      needs: 'nobody',
      handle: ({ url }) =>
        loginPage({ guard, environment, to: safePath(url.searchParams.get('to') ?? '/') }),
    },
    {
      method: 'POST',
      path: '/login',
      needs: 'nobody',
      body: 'form',
      async handle({ url, body, address, isPlain }) {
        const { token = '', name = '' } = body as Record<string, string>;
        const to = safePath(url.searchParams.get('to') ?? '/');
        if (isPlain) return loginPage({ guard, environment, to, failure: 403 });
        const reply = await signIn(byToken(token, name, address), () => toPage(to));
        return reply.status === 303
          ? reply
          : loginPage({ guard, environment, to, failure: reply.status });
      },
    },
    {
      method: 'POST',
      path: '/logout',
      needs: 'nobody',
      body: 'form',
      handle: () => toPage('/login', NO_COOKIE),
    },
    { method: 'GET', path: '/open', needs: 'nobody', handle: openPage },
    {
      method: 'POST',
      path: '/api/v1/session',
      needs: 'nobody',
      body: 'json',
      async handle({ body, address, isPlain }) {
        if (isPlain) throw plain();
        const { code, token, name } = (body ?? {}) as Record<string, unknown>;
        const done = ({ role, who }: Principal) => jsonReply(201, { role, who });
        if (typeof code === 'string') {
          const who = await sessions.redeem(code);
          return signIn(who === undefined ? linkUsed() : { role: 'operate', who }, done);
        }
        return signIn(byToken(textOf(token), textOf(name), address), done);
      },
    },
    {
      method: 'DELETE',
      path: '/api/v1/session',
      needs: 'nobody',
      handle: () => jsonReply(200, { signedIn: false }, { 'set-cookie': NO_COOKIE }),
    },
  ];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function linkUsed(): Reply {
  const error = new PoSyncError(
    'link-used',
    'This link was used before, or is older than 60 seconds.',
    {
      remedy: 'Run po-sync dashboard again.',
    },
  );
  return problemReply(error, 401);
}

/** A name for the history of orders: one line without control characters. */
function onlyText(name: string): string {
  return name
    .replace(/\p{C}+/gu, ' ')
    .trim()
    .slice(0, 48);
}

/** A path of this port: never another host, which `//host` and `/\host` would be. */
function safePath(to: string): string {
  const url = URL.canParse(to, 'http://admin')
    ? new URL(to, 'http://admin')
    : new URL('http://admin/');
  return url.origin === 'http://admin' && to.startsWith('/') ? url.pathname + url.search : '/';
}

function toPage(location: string, cookie?: string): Reply {
  return {
    status: 303,
    type: 'text/plain',
    body: '',
    headers: { location, ...(cookie === undefined ? {} : { 'set-cookie': cookie }) },
  };
}

type Login = { guard: Guard; environment: string; to: string; failure?: number };

function loginPage({ guard: { hasTokens }, environment, to, failure }: Login): Reply {
  const words = failure && (FAILED[failure] ?? 'The token is wrong.');
  const trouble = words && html`<p class="bad" role="alert">${words}</p>`;
  const form = html`<form method="post" action="/login?to=${encodeURIComponent(to)}" class="narrow">
<label for="name">Your name <small>for the history of orders</small></label>
<input id="name" name="name" autocomplete="username" maxlength="48" required>
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required>
<button>Sign in</button>
</form>`;
  const link = html`<p>On the machine of a daemon you can also run <code>po-sync dashboard</code> and open the link that it prints.</p>`;
  const ask = html`<p>Your operator gives you the token.</p>`;
  const body = html`<h1>Sign in to po-sync: ${environment}</h1>${trouble}${hasTokens ? html`${form}${ask}` : undefined}${link}`;
  return framePage({ title: 'Sign in', body }, failure ?? 200);
}

const PLAIN =
  'Over plain http, a browser does not keep the session of another machine. Open the dashboard by https (docs/operations/dashboard.md), or on the machine of the daemon.';

const FAILED: Readonly<Record<number, string>> = {
  403: PLAIN,
  429: 'Too many wrong tokens. Wait a minute.',
};

function plain(): PoSyncError {
  return new PoSyncError('sign-in-plain', 'No session is opened over plain http.', {
    remedy: PLAIN,
  });
}

/** The code is after the #, so no server or proxy logs it. The script sends it and removes it from the address. */
function openPage(): Reply {
  const body = html`<h1>Opening the dashboard</h1>
<p id="state" role="status">Checking the link…</p>
<noscript><p class="bad">This link needs JavaScript. Without it, sign in at <a href="/login">/login</a> with a token.</p></noscript>`;
  return framePage({ title: 'Opening the dashboard', body, scripts: ['open.js'] });
}

/** A form of somebody who may not send it, such as one that is left open from an earlier session. */
export function refusedPage(
  person: Principal | undefined,
  hasTokens: boolean,
  status: number,
): Reply {
  const why =
    person === undefined
      ? 'You are not signed in, perhaps because your session has ended.'
      : 'You may read here, but this needs the role operate.';
  const how = hasTokens
    ? html`<a href="/login">Sign in</a> with the token of the role operate, or ask somebody who has it.`
    : html`Open the link that <code>po-sync dashboard</code> prints on the machine of the daemon, or ask your operator.`;
  const body = html`<h1>Not allowed</h1>
<p role="alert">Nothing was changed. ${why}</p>
<p>${how}</p><p><a href="/">Overview</a></p>`;
  return framePage({ title: 'Not allowed', body }, status);
}

function noSession(): PoSyncError {
  return new PoSyncError('redis-away', 'Redis is not reachable, so no session can be opened.', {
    remedy: 'Check Redis, then sign in again.',
  });
}
