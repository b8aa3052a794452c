// Shows times in the reader's zone, and keeps the figures of a page current while it is seen.

const PAUSE = 2_000;

/**
 * @param {Date} at
 * @param {boolean} isMinute whether its seconds are not known
 */
function localText(at, isMinute = false) {
  // The long style of a time has its zone, and its seconds.
  if (isMinute)
    return at.toLocaleString(undefined, {
      year: 'numeric',
      month: 'short',
      day: 'numeric',
      hour: 'numeric',
      minute: '2-digit',
      timeZoneName: 'short',
    });
  return at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'long' });
}

/** @param {ParentNode} part */
function showLocalTimes(part) {
  for (const time of part.querySelectorAll('time[datetime]')) {
    const at = new Date(time.getAttribute('datetime') ?? '');
    if (Number.isNaN(at.getTime())) continue;
    const local = localText(at, time.hasAttribute('data-minute'));
    if (time.hasAttribute('data-ago')) time.setAttribute('title', local);
    else {
      time.setAttribute('title', at.toISOString());
      time.textContent = local;
    }
  }
}

showLocalTimes(document);

// A day that is entered begins and ends in the zone of the times.
const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
for (const shown of document.querySelectorAll('[data-zone]')) {
  if (shown instanceof HTMLInputElement) shown.value = timeZone;
  else shown.textContent = timeZone;
}

// Spreadsheets have the times of the page. The name of a batch can contain that of one.
for (const download of document.querySelectorAll('a[href*=".xlsx"]')) {
  const address = new URL(download.getAttribute('href') ?? '', location.href);
  if (address.pathname.endsWith('.xlsx') && !address.searchParams.get('zone'))
    address.searchParams.set('zone', timeZone);
  download.setAttribute('href', address.pathname + address.search);
}

const STATUS = '/api/v1/status';
const made = document.querySelector('[data-source]');
const source = made?.getAttribute('data-source') ?? '';
const numbers = new Intl.NumberFormat('en-US');

/**
 * The value of a path such as `queue.waitingJobs`.
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
 * What cannot be brought up to date in place: pauses, daemons, and which batches are in which state. The server has the same.
 * @param {unknown} document
 */
function shapeOf(document) {
  /** @param {string} path @param {string} key */
  const each = (path, key) => {
    const list = valueAt(document, path);
    return Array.isArray(list) ? list.map((one) => [valueAt(one, key), valueAt(one, 'state')]) : [];
  };
  return JSON.stringify([
    each('pauses', 'code'),
    each('daemons', 'pid'),
    each('batches', 'batch'),
    each('batches', 'unsettled'),
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

/**
 * Shows in the header what the server shows there, on pages that are not loaded again when it changes.
 * @param {'good' | 'bad'} tone
 * @param {string} words
 * @param {string} [more]
 */
function showState(tone, words, more = '') {
  const state = document.querySelector('#state');
  if (state === null || state.textContent === `${words}${more}`) return;
  const badge = document.createElement('span');
  badge.className = `badge ${tone}`;
  badge.textContent = words;
  state.replaceChildren(badge, more);
}

/**
 * As `plainReason` says it on the pages: without the words of the network.
 * @param {string} reason
 */
function plain(reason) {
  if (reason.startsWith('no complete answer')) return 'the order API gave no complete answer';
  const isAway = /^(could not be sent: |the token endpoint \S+ does not answer: )/.test(reason);
  return isAway ? 'the order API cannot be reached' : reason;
}

/** @param {unknown} document_ */
function showHeader(document_) {
  const away = valueAt(document_, 'redisAwaySince');
  const [reason, since] = ['reason', 'since'].map((name) => valueAt(document_, `pauses.0.${name}`));
  if (typeof away === 'string')
    return showState('bad', 'Redis is not reachable', ` since ${localText(new Date(away))}`);
  if (typeof reason === 'string' && typeof since === 'string') {
    // An operator's reason begins with the word.
    const why = `: ${plain(reason)}`.replace(/^: paused /, ' ').replace(/[.;:,\s]+$/, '');
    return showState('bad', 'Paused', ` since ${localText(new Date(since))}${why}`);
  }
  if (valueAt(document_, 'daemons.length') === 0) return showState('bad', 'No daemon is running');
  showState('good', 'Delivering');
}

/** Of the document from which the page was built: what changed before the first reading is seen as a change. */
let shape = made?.getAttribute('data-shape') ?? '';
let isLost = false;

/** Loads the page again when something else is to be shown, unless somebody works on it. @param {string} now */
function loadWhenChanged(now) {
  const change = `${shape} ${now}`;
  // A page that was loaded because of this change, and is as it was, is not loaded without end.
  if (shape !== '' && now !== shape && !isInUse() && sessionStorage.getItem('change') !== change) {
    sessionStorage.setItem('change', change);
    location.reload();
  }
  shape = now;
}

/** @param {string} address */
async function read(address) {
  const answer = await fetch(address, { headers: { accept: 'application/json' } });
  if (answer.status === 401) throw new Error('Signed out');
  return answer.ok ? answer.json() : undefined;
}

async function refresh() {
  const status = await read(STATUS);
  const shown = source === '' || source === STATUS ? status : await read(source);
  if (isLost && !isInUse()) location.reload();
  isLost = false;
  if (source === STATUS) loadWhenChanged(shapeOf(status));
  else {
    if (status !== undefined) showHeader(status);
    if (source !== '' && shown !== undefined) loadWhenChanged(shapeOf(shown));
  }
  const changed = liveChanges(shown);
  rounds += 1;
  const isDue = rounds % ROUNDS === 0;
  // Figures of one page are of one moment: those of the document alone would be ahead of the parts.
  if ((isDue || changed.length > 0) && (await freshen(isDue))) return;
  for (const [element, text] of changed) element.textContent = text;
}

/** The figures that the document has otherwise, with what it says. @param {unknown} shown @returns {[Element, string][]} */
function liveChanges(shown) {
  return [...document.querySelectorAll('[data-live]')].flatMap((element) => {
    const value = valueAt(shown, element.getAttribute('data-live') ?? '');
    const text = typeof value === 'number' ? numbers.format(value) : element.textContent;
    return text === element.textContent ? [] : [/** @type {[Element, string]} */ ([element, text])];
  });
}

/** Rounds between two looks at the words that change with time. */
const ROUNDS = 5;
let rounds = 0;

/** @param {Node} shown @param {Node | undefined} built @returns {boolean} */
function haveSameElements(shown, built) {
  if (shown.nodeName !== built?.nodeName || shown.childNodes.length !== built.childNodes.length)
    return false;
  return [...shown.childNodes].every((child, i) => haveSameElements(child, built.childNodes[i]));
}

/** @param {Node} shown @param {Node | undefined} built */
function copyTexts(shown, built) {
  if (shown instanceof Text && built instanceof Text && shown.data !== built.data)
    shown.data = built.data;
  if (shown instanceof HTMLProgressElement && built instanceof HTMLProgressElement)
    shown.value = built.value;
  if (shown instanceof HTMLAnchorElement && built instanceof HTMLAnchorElement)
    shown.href = built.href;
  for (const [i, child] of [...shown.childNodes].entries()) copyTexts(child, built?.childNodes[i]);
}

/**
 * Brings the parts up to date whose words change with time, such as `3 s ago`, and the figures with them. What is selected
 * or has the focus stays. `mayLoad`: a page with other parts is loaded again. False: nothing could be read.
 * @param {boolean} mayLoad
 */
async function freshen(mayLoad) {
  const parts = [...document.querySelectorAll('[data-fresh], [data-live]')];
  if (!parts.some((part) => part.hasAttribute('data-fresh'))) return false;
  const page = await builtAgain();
  if (page === null) return false;
  showLocalTimes(page);
  const [state, stateNow] = [document, page].map((one) => one.querySelector('#state'));
  if (state && stateNow && state.textContent !== stateNow.textContent)
    state.replaceChildren(...stateNow.childNodes);
  for (const part of parts) {
    const name = part.hasAttribute('data-fresh') ? 'data-fresh' : 'data-live';
    const built = page.querySelector(`[${name}="${part.getAttribute(name)}"]`) ?? undefined;
    if (haveSameElements(part, built)) copyTexts(part, built);
    else if (mayLoad && name === 'data-fresh' && !isInUse()) location.reload();
  }
  return true;
}

/**
 * This page as the server builds it now; null when it cannot. The browser parses it: the policy of the pages forbids that to scripts.
 * @returns {Promise<Document | null>}
 */
function builtAgain() {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open('GET', location.pathname + location.search);
    request.responseType = 'document';
    request.onload = () => resolve(request.status === 200 ? request.responseXML : null);
    request.onerror = () => resolve(null);
    request.send();
  });
}

/** The daemon of this page does not answer, or no longer knows who asks. @param {unknown} error */
function lose(error) {
  if (error instanceof Error && error.message === 'Signed out') {
    showState('bad', 'Signed out', '. Load the page again to sign in.');
  } else if (!isLost) {
    showState(
      'bad',
      'No connection',
      ` to this daemon since ${localText(new Date())}; tried again`,
    );
    isLost = true;
  }
}

if (document.querySelector('#state') !== null) {
  // At once, so that a change soon after the page was built is seen as one.
  refresh().catch(lose);
  setInterval(() => {
    // A hidden page asks for nothing.
    if (!document.hidden) refresh().catch(lose);
  }, PAUSE);
}

export {};
