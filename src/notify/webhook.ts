import type { Http } from '../core/http.ts';
import type { Notice } from './notice.ts';

/** `timeout`: of one call, in milliseconds. */
type Deps = { http: Http; timeout: number; signal: AbortSignal };

/** Bytes of an answer that are read. */
const MOST_BYTES = 64 * 1024;

/** Posts a notice as JSON; any 2xx is success. Errors never contain the address, which may be a secret. */
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

/** Rejects when `signal` aborts; stops listening when `unneeded` aborts. */
function whenAborted(signal: AbortSignal, unneeded: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const giveUp = () => reject(new Error('po-sync is stopping'));
    signal.addEventListener('abort', giveUp, { once: true, signal: unneeded });
  });
}
