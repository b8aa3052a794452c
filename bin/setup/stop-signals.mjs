/** A terminal tells npm and us of one Ctrl-C, and npm may pass it on: within this time it is the same one. */
const SAME = 1_500;

/** Listens for the wish to stop; a second, later one asks for haste. */
export function listenForStop() {
  const controller = new AbortController();
  const { signal } = controller;
  let since = 0;
  let force = () => undefined;
  const onSignal = () => {
    if (!signal.aborted) {
      since = Date.now();
      controller.abort();
    } else if (Date.now() - since > SAME) {
      force();
    }
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, onSignal);
  return {
    /** Aborts at the first signal. */
    signal,
    /** Resolves at the first signal. */
    asked: new Promise((resolve) => signal.addEventListener('abort', () => resolve(true), { once: true })),
    onForce(act) {
      force = act;
    },
  };
}
