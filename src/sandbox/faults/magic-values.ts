import type { Fault, FaultFile } from './fault-file.ts';

/** How each magic article code begins in the text of an order; docs/rehearsals.md lists the codes. */
export const MAGIC_PREFIX = '"REHEARSE-';

const CREATE = { on: 'create', share: 1, from: 0 } as const;
const FIRST = { ...CREATE, attempts: [{ least: 1, most: 1 }] };
const answer = (status: number) => ({ kind: 'answer', when: 'before', status, retryAfterForm: 'seconds' }) as const;

/** What `REHEARSE-<status>` does to every attempt, and `REHEARSE-<status>-ONCE` to the first one of an order number. */
const ANSWERS = [
  ...[400, 403, 404, 409, 413, 422, 500, 504].map(answer),
  { kind: 'revoke' } as const,
  { ...answer(502), body: 'html' } as const,
  { ...answer(429), retryAfter: 2000 },
  { ...answer(503), retryAfter: 2000 },
];

/** The other codes; all but `REHEARSE-SLOW` affect only the first attempt of an order number. */
const OTHERS: readonly Fault[] = [
  { ...FIRST, kind: 'drop', when: 'after', how: 'close', articles: ['REHEARSE-LOST-ANSWER'] },
  { ...FIRST, kind: 'drop', when: 'before', how: 'close', articles: ['REHEARSE-LOST-REQUEST'] },
  { ...FIRST, kind: 'late', by: { least: 2000, most: 2000 }, how: 'close', articles: ['REHEARSE-LATE'] },
  { ...FIRST, kind: 'cut', articles: ['REHEARSE-CUT'] },
  { ...CREATE, kind: 'delay', when: 'before', by: { least: 5000, most: 5000 }, articles: ['REHEARSE-SLOW'] },
];

/** Article codes that rehearse a fault without a fault file. */
export const MAGIC_FAULTS: FaultFile = {
  seed: 1,
  faults: [
    ...ANSWERS.flatMap((fault): Fault[] => {
      const code = `REHEARSE-${fault.kind === 'answer' ? fault.status : 401}`;
      return [
        { ...CREATE, ...fault, articles: [code] },
        { ...FIRST, ...fault, articles: [`${code}-ONCE`] },
      ];
    }),
    ...OTHERS,
  ],
};
