/** One Ctrl-C can arrive twice, from the terminal and from npm. Signals within this time (ms) count as one. */
const SAME = 1_500;

/** Listens for stop signals; a second, later one requests an immediate stop. */
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
    asked: new Promise((resolve) =>
      signal.addEventListener('abort', () => resolve(true), { once: true }),
    ),
    onForce(act) {
      force = act;
    },
  };
}
