// Shows times in the reader's zone, and keeps the figures of a page current while it is seen.

const PAUSE = 2_000;

/** @param {Date} at */
function localText(at) {
  return at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}

for (const time of document.querySelectorAll('time[datetime]')) {
  const at = new Date(time.getAttribute('datetime') ?? '');
  if (Number.isNaN(at.getTime())) continue;
  const local = localText(at);
  if (time.hasAttribute('data-ago')) time.setAttribute('title', local);
  else {
    time.setAttribute('title', at.toISOString());
    time.textContent = local;
  }
}

const source = document.querySelector('[data-source]')?.getAttribute('data-source') ?? '';
const numbers = new Intl.NumberFormat('en-US');

/**
 * The value of a path such as `status.queue.waitingJobs`.
 * @param {unknown} document
 * @param {string} path
 * @returns {unknown}
 */
function valueAt(document, path) {
  let value = document;
  for (const step of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Reflect.get(value, step);
  }
  return value;
}

/**
 * What cannot be brought up to date in place: pauses, daemons, and which batches are in which state.
 * @param {unknown} document
 */
function shapeOf(document) {
  /** @param {string} path @param {string} key */
  const each = (path, key) => {
    const list = valueAt(document, path);
    return Array.isArray(list) ? list.map((one) => [valueAt(one, key), valueAt(one, 'state')]) : [];
  };
  return JSON.stringify([
    each('status.pauses', 'code'),
    each('status.daemons', 'pid'),
    each('status.batches', 'batch'),
    valueAt(document, 'redisAwaySince'),
    valueAt(document, 'state'),
  ]);
}

/** A page that somebody works on is not loaded again. */
function isInUse() {
  const fields = [...document.querySelectorAll('form[method=post] input:not([type=hidden])')];
  const isFilled = fields.some((field) => field instanceof HTMLInputElement && field.value !== '');
  return isFilled || document.activeElement instanceof HTMLInputElement;
}

let shape = '';

async function refresh() {
  const answer = await fetch(source, { headers: { accept: 'application/json' } });
  if (!answer.ok) return;
  const document_ = await answer.json();
  const now = shapeOf(document_);
  if (shape !== '' && now !== shape && !isInUse()) location.reload();
  shape = now;
  for (const element of document.querySelectorAll('[data-live]')) {
    const value = valueAt(document_, element.getAttribute('data-live') ?? '');
    if (typeof value !== 'number') continue;
    const text = numbers.format(value);
    if (element.textContent !== text) element.textContent = text;
  }
}

if (source !== '') {
  // At once, so that a change soon after the page was built is seen as one.
  refresh().catch(() => undefined);
  setInterval(() => {
    // A hidden page asks for nothing.
    if (!document.hidden) refresh().catch(() => undefined);
  }, PAUSE);
}

export {};
