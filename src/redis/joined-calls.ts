/** How requests are grouped. */
type JoinedOptions = {
  /** Maximum number of requests in a group. */
  most: number;
  /** Groups in progress at the same time: with two, one is on its way while Redis works on the other. */
  lanes: number;
};

/**
 * Groups requests that arrive while calls are in progress: a single request is sent at once, many share one round trip.
 * `call` answers a group in its order; when it fails, every request of the group fails.
 */
export function joinedCalls<Request, Answer>(
  call: (group: readonly Request[]) => Promise<readonly Answer[]>,
  { most, lanes }: JoinedOptions,
): (request: Request) => Promise<Answer> {
  let waiting: Waiting<Request, Answer>[] = [];
  let inProgress = 0;

  /** Sends group after group until no request waits. Never rejects. */
  async function run(): Promise<void> {
    inProgress += 1;
    // Requests of the same tick join this group.
    await Promise.resolve();
    while (waiting.length > 0) {
      const group = waiting.length <= most ? waiting : waiting.slice(0, most);
      waiting = group === waiting ? [] : waiting.slice(most);
      await settle(group);
    }
    inProgress -= 1;
  }

  async function settle(group: readonly Waiting<Request, Answer>[]): Promise<void> {
    try {
      const answers = await call(group.map(({ request }) => request));
      if (answers.length !== group.length) throw new Error(`${group.length} requests got ${answers.length} answers`);
      group.forEach(({ resolve }, i) => {
        resolve(answers[i] as Answer);
      });
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  return (request) =>
    new Promise((resolve, reject) => {
      waiting.push({ request, resolve, reject });
      if (inProgress < lanes) void run();
    });
}

type Waiting<Request, Answer> = {
  request: Request;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
};
