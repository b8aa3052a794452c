import type { Http } from '../core/http.ts';
import type { Notice } from './notice.ts';

type Deps = { http: Http /** Of one call, in milliseconds. */; timeout: number; signal: AbortSignal };

/** An answer longer than this is not looked at. */
const MOST_BYTES = 64 * 1024;

/** Posts a notice as JSON; any 2xx is success. Throws with what was seen, never with the address: it may be a secret. */
export async function callWebhook(address: string, notice: Notice, { http, timeout, signal }: Deps): Promise<void> {
  signal.throwIfAborted();
  const call = http.call({
    method: 'POST',
    url: new URL(address),
    headers: { 'content-type': 'application/json', accept: '*/*', 'user-agent': 'po-sync' },
    body: JSON.stringify(notice),
    timeout,
    maxBytes: MOST_BYTES,
  });
  const answered = new AbortController();
  const end = await Promise.race([call, whenAborted(signal, answered.signal)]).finally(() => answered.abort());
  const status = end.kind === 'answered' ? end.answer.status : end.kind === 'broken' ? end.status : undefined;
  if (status !== undefined && status >= 200 && status < 300) return;
  if (end.kind === 'answered') throw new Error(`the webhook answered ${end.answer.status}`);
  throw new Error(`no answer from the webhook: ${end.error.message}`);
}

/** Rejects when `signal` aborts; listens until `unneeded`. */
function whenAborted(signal: AbortSignal, unneeded: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const giveUp = () => reject(new Error('there was no time left'));
    signal.addEventListener('abort', giveUp, { once: true, signal: unneeded });
  });
}
