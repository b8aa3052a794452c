// Sends the one-time code of the link, which is behind the #, and removes it from the address and the history.
const state = /** @type {HTMLElement} */ (document.getElementById('state'));
const code = location.hash.slice(1);
history.replaceState(null, '', '/open');

const answer = await fetch('/api/v1/session', {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ code }),
});
if (answer.ok) location.replace('/');
else {
  const { error } = await answer.json();
  state.className = 'bad';
  state.textContent = [error.message, error.remedy].filter(Boolean).join(' ');
}

export {};
