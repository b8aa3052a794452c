/** How a group of requests is answered. */
type JoinedOptions = {
  /** Most requests of a group. */
  most: number;
  /** Groups under way at the same time: one more is on its way while the other is worked on. */
  lanes: number;
};

/**
 * Joins what comes while calls are under way into the next one: alone, a request goes at once; in a crowd many share a
 * trip. `call` answers a group, in its order; when it fails, each of the group does.
 */
export function joinedCalls<Request, Answer>(
  call: (group: readonly Request[]) => Promise<readonly Answer[]>,
  { most, lanes }: JoinedOptions,
): (request: Request) => Promise<Answer> {
  let waiting: Waiting<Request, Answer>[] = [];
  let underWay = 0;

  /** One group after the other, until nobody waits. Never fails: whoever waits is told. */
  async function run(): Promise<void> {
    underWay += 1;
    // What else is asked for in this very moment goes along.
    await Promise.resolve();
    while (waiting.length > 0) {
      const group = waiting.length <= most ? waiting : waiting.slice(0, most);
      waiting = group === waiting ? [] : waiting.slice(most);
      await settle(group);
    }
    underWay -= 1;
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
      if (underWay < lanes) void run();
    });
}

type Waiting<Request, Answer> = {
  request: Request;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
};
