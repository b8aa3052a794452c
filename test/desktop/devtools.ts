/** The parts of an event that are used here. */
type KnownInvalid = { entry?: { text: string }; backendNodeId?: number };

/** One tab, by the Chrome DevTools Protocol. */
export type Page = {
  /** Throws with the browser's own words. */
  call<T = unknown>(method: string, params?: object): Promise<T>;
  on(event: string, listener: (told: KnownInvalid) => void): void;
  /** Resolves at the next event of the name. */
  next(event: string): Promise<void>;
};

type Message = {
  id?: number;
  method?: string;
  sessionId?: string;
  params?: KnownInvalid;
  result?: unknown;
  error?: Failure;
};
type Failure = { message: string };
type Waiting = { resolve: (result: unknown) => void; reject: (error: Error) => void };

/** Connects to a browser's DevTools. */
export async function openDevtools(
  address: string,
): Promise<AsyncDisposable & { openPage(): Promise<Page> }> {
  const socket = new WebSocket(address);
  const waiting = new Map<number, Waiting>();
  const listeners: { session: string; event: string; listener: (told: KnownInvalid) => void }[] =
    [];
  let last = 0;

  socket.addEventListener('message', ({ data }) => {
    const { id, method, sessionId, params = {}, result, error }: Message = JSON.parse(String(data));
    const asked = id === undefined ? undefined : waiting.get(id);
    if (error) asked?.reject(new Error(error.message));
    else asked?.resolve(result);
    for (const { session, event, listener } of listeners) {
      if (session === sessionId && event === method) listener(params);
    }
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', () => reject(new Error(`no DevTools at ${address}`)));
  });

  function call<T>(method: string, params: object = {}, sessionId?: string): Promise<T> {
    last += 1;
    const id = last;
    socket.send(
      JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }),
    );
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve: (result) => resolve(result as T), reject });
    });
  }

  return {
    async openPage() {
      const { targetId } = await call<{ targetId: string }>('Target.createTarget', {
        url: 'about:blank',
      });
      const attached = { targetId, flatten: true };
      const { sessionId: session } = await call<{ sessionId: string }>(
        'Target.attachToTarget',
        attached,
      );
      const on: Page['on'] = (event, listener) => void listeners.push({ session, event, listener });
      return {
        on,
        call: (method, params) => call(method, params, session),
        next: (event) => new Promise((resolve) => on(event, () => resolve())),
      };
    },
    [Symbol.asyncDispose]: async () => socket.close(),
  };
}
