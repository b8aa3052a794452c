/**
 * Joins what comes while a call is under way into the next one: alone, a request goes at once; in a crowd many share a
 * trip. `call` answers a group, in its order; when it fails, each of the group does. `most` bounds a group.
 */
export function joinedCalls<Request, Answer>(
  call: (group: readonly Request[]) => Promise<readonly Answer[]>,
  most: number,
): (request: Request) => Promise<Answer> {
  let waiting: Waiting<Request, Answer>[] = [];
  let isUnderWay = false;

  /** One group after the other, until nobody waits. Never fails: whoever waits is told. */
  async function run(): Promise<void> {
    isUnderWay = true;
    // What else is asked for in this very moment goes along.
    await Promise.resolve();
    while (waiting.length > 0) {
      const group = waiting.slice(0, most);
      waiting = waiting.slice(most);
      await settle(group);
    }
    isUnderWay = false;
  }

  async function settle(group: readonly Waiting<Request, Answer>[]): Promise<void> {
    try {
      const answers = await call(group.map(({ request }) => request));
      if (answers.length !== group.length) throw new Error(`${group.length} requests got ${answers.length} answers`);
      for (const [i, { resolve }] of group.entries()) resolve(answers[i] as Answer);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  return (request) =>
    new Promise((resolve, reject) => {
      waiting.push({ request, resolve, reject });
      if (!isUnderWay) void run();
    });
}

type Waiting<Request, Answer> = {
  request: Request;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
};
