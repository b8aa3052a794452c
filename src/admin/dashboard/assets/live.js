// Shows times in the reader's zone, and keeps a page current while it is seen.

/** @param {Date} at */
function localText(at) {
  return at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'long' });
}

/** @param {Document} page */
function localize(page) {
  for (const time of page.querySelectorAll('time[datetime]')) {
    const at = new Date(time.getAttribute('datetime') ?? '');
    if (Number.isNaN(at.getTime())) continue;
    const local = localText(at);
    time.setAttribute('title', at.toISOString());
    time.textContent = local;
  }
}

/** @param {Element} part */
function isInUse(part) {
  const fields = [...part.querySelectorAll('input, select')];
  const isFilled = fields.some(
    (field) =>
      (field instanceof HTMLInputElement && field.value !== field.defaultValue) ||
      (field instanceof HTMLInputElement && field.checked !== field.defaultChecked),
  );
  return isFilled || (part.contains(document.activeElement) && document.activeElement !== part);
}

/**
 * Makes a part of the page what the server builds now. What is selected, has the focus or was filled in stays.
 * @param {ChildNode} shown @param {ChildNode} built
 */
function renew(shown, built) {
  if (shown.isEqualNode(built)) return;
  if (shown instanceof Text && built instanceof Text) {
    shown.data = built.data;
    return;
  }
  const [old, fresh] = [[...shown.childNodes], [...built.childNodes]];
  if (shown.nodeName !== built.nodeName || old.length !== fresh.length) {
    if (!(shown instanceof Element && isInUse(shown))) shown.replaceWith(built);
    return;
  }
  if (shown instanceof Element && built instanceof Element)
    for (const { name, value } of built.attributes)
      if (shown.getAttribute(name) !== value) shown.setAttribute(name, value);
  for (const [i, child] of old.entries()) {
    const now = fresh[i];
    if (now) renew(child, now);
  }
}

/** This page as the server builds it now. The browser parses it: the policy of the pages forbids that to scripts. */
function load() {
  const request = new XMLHttpRequest();
  request.open('GET', location.pathname + location.search);
  request.responseType = 'document';
  request.onload = () => {
    const page = request.responseXML;
    const isHere = new URL(request.responseURL).pathname === location.pathname;
    if (page === null || !isHere)
      return showLoss('Signed out', '. Load the page again to sign in.');
    localize(page);
    // While Redis is away, a page has only its header.
    for (const place of request.status === 200 ? ['#state', 'main'] : ['#state']) {
      const [shown, built] = [document.querySelector(place), page.querySelector(place)];
      if (shown && built) renew(shown, built);
    }
  };
  request.send();
}

/** @param {string} words @param {string} more */
function showLoss(words, more) {
  const badge = document.createElement('span');
  badge.className = 'badge bad';
  badge.textContent = words;
  document.querySelector('#state')?.replaceChildren(badge, more);
}

/** @type {EventSource | undefined} */
let events;

/** A hidden page asks for nothing, and needs no connection. */
function follow() {
  events?.close();
  if (document.hidden) return;
  events = new EventSource('/events');
  events.onmessage = load;
  events.onerror = () => {
    showLoss('No connection', ` to this daemon since ${localText(new Date())}; tried again`);
    if (events?.readyState === EventSource.CLOSED) setTimeout(follow, 5_000);
  };
}

localize(document);
if (document.querySelector('#state') !== null) {
  document.addEventListener('visibilitychange', follow);
  follow();
}

export {};
