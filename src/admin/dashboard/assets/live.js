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

async function refresh() {
  const answer = await fetch(source, { headers: { accept: 'application/json' } });
  if (!answer.ok) return;
  const document_ = await answer.json();
  for (const element of document.querySelectorAll('[data-live]')) {
    const value = valueAt(document_, element.getAttribute('data-live') ?? '');
    if (typeof value !== 'number') continue;
    const text = numbers.format(value);
    if (element.textContent !== text) element.textContent = text;
  }
}

if (source !== '') {
  setInterval(() => {
    // A hidden page asks for nothing.
    if (!document.hidden) refresh().catch(() => undefined);
  }, PAUSE);
}

export {};
