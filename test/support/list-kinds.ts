import type { FaultFileInput } from '../../src/sandbox/faults/fault-file.ts';

type Faults = NonNullable<FaultFileInput['faults']>;

/** Every kind of list that an environment may have, as faults of a sandbox. */
export const LIST_KINDS = {
  complete: [{ kind: 'list', show: 'all' }],
  'the newest only': [{ kind: 'list', show: 'newest:15' }],
  'the oldest only': [{ kind: 'list', show: 'oldest:15' }],
  'cut from the 201st on': [{ kind: 'list', show: 'newest:200' }],
  'a random part': [{ kind: 'list', show: 'part:40%' }],
  'paged always': [{ kind: 'list', show: 'paged:15' }],
  'paged on request': [{ kind: 'list', show: 'paged' }],
  'limit honored, offset ignored': [{ kind: 'list', show: 'limited:15' }],
  'query parameters refused': [{ kind: 'list', show: 'strict' }],
  'growing while it is read': [{ kind: 'list', show: 'paged:15+grows' }],
  lagging: [{ kind: 'list', show: 'lag:2s' }],
  'an archive': [{ kind: 'list', show: 'archive:2s' }],
  empty: [{ kind: 'list', show: 'newest:0' }],
  malformed: [
    {
      kind: 'answer',
      on: 'list',
      status: 200,
      text: '{"status":"success","data":{"total":40},"error":null}',
      headers: { 'Content-Type': 'application/json' },
    },
  ],
  ...Object.fromEntries(
    [403, 404, 405, 501].map((status) => [
      `not offered, ${status}`,
      [{ kind: 'answer', on: 'list', status } satisfies Faults[number]],
    ]),
  ),
} satisfies Record<string, Faults>;
