import { until } from './until.ts';
import type { Running, Workplace } from './workplace.ts';

/** A person who is signed in at the dashboard of a daemon. `call` sends JSON as the dashboard's own page does; of an error, its `body` is what the error says. */
export type Operator = {
  port: number;
  cookie: string;
  /** The one-time link that was not used. */
  link(): Promise<string>;
  call(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: Record<string, unknown> }>;
  /** `batches send` with the file as the body. */
  file(
    query: string,
    content: string | Buffer,
  ): Promise<{ status: number; body: Record<string, unknown> }>;
  /** Uploads a file as the page does and waits until it is checked. `plan`: what its preview is confirmed with. */
  upload(
    name: string,
    content: string | Buffer,
    source?: string,
  ): Promise<{ to: string; text: string; plan: string }>;
  /** A page's text. */
  page(path: string): Promise<{ status: number; text: string }>;
  /** Submits a form as a browser does, without following where it leads. */
  submit(path: string, fields: Record<string, string>): Promise<Response>;
};

/** Waits for the daemon and signs in by the link of `po-sync dashboard`. */
export async function openOperator(place: Workplace, daemon: Running): Promise<Operator> {
  const port = Number(await until('ready', () => /"adminPort":(\d+)/.exec(daemon.out())?.[1]));
  const origin = `http://127.0.0.1:${port}`;
  // A connection for each call: one that waited for five seconds is closed, perhaps when it is used again.
  const own = { 'sec-fetch-site': 'same-origin', connection: 'close' };
  const link = () =>
    until('the link', async () => {
      return (JSON.parse((await place.run(['dashboard', '--json'])).out) as { url?: string }).url;
    });
  const answer = await fetch(`${origin}/api/v1/session`, {
    method: 'POST',
    headers: { ...own, 'content-type': 'application/json' },
    body: JSON.stringify({ code: (await link()).split('#')[1] }),
  });
  const cookie = answer.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
  async function call(method: string, path: string, body?: unknown) {
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const reply = await fetch(`${origin}/api/v1${path}`, {
      method,
      headers: { ...own, ...type, cookie },
      ...init,
    });
    const found = (await reply.json()) as Record<string, unknown>;
    return { status: reply.status, body: (found['error'] as typeof found | undefined) ?? found };
  }

  async function page(path: string) {
    const reply = await fetch(`${origin}${path}`, {
      headers: { accept: 'text/html', cookie, connection: 'close' },
    });
    return { status: reply.status, text: await reply.text() };
  }

  return {
    port,
    cookie,
    link,
    call,
    page,
    async file(query, content) {
      const reply = await fetch(`${origin}/api/v1/batches/send?${query}`, {
        method: 'POST',
        headers: { ...own, cookie, 'content-type': 'application/octet-stream' },
        body: new Uint8Array(Buffer.from(content)),
      });
      const found = (await reply.json()) as Record<string, unknown>;
      return { status: reply.status, body: (found['error'] as typeof found | undefined) ?? found };
    },
    async upload(name, content, source = 'inbox') {
      const body = new FormData();
      body.set('source', source);
      body.set('file', new Blob([new Uint8Array(Buffer.from(content))]), name);
      const headers = { ...own, cookie };
      const init = { method: 'POST', redirect: 'manual' as const, headers, body };
      const answer = await fetch(`${origin}/upload`, init);
      const to = answer.headers.get('location') ?? '';
      const text = to === '' ? await answer.text() : (await page(to)).text;
      return { to, text, plan: /name="plan" value="(\w+)"/.exec(text)?.[1] ?? '' };
    },
    submit(path, fields) {
      return fetch(`${origin}${path}`, {
        method: 'POST',
        redirect: 'manual',
        headers: {
          ...own,
          cookie,
          accept: 'text/html',
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: new URLSearchParams(fields).toString(),
      });
    },
  };
}
