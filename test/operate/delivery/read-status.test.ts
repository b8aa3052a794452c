import { expect, it } from 'vitest';
import type { WaitCode, WaitingFile } from '../../../src/intake/waiting.ts';
import {
  inboxText,
  notTakenTexts,
  otherWaitingTexts,
  withObstacle,
} from '../../../src/operate/delivery/source-status.ts';

it('files in an inbox without its marker wait for the marker', () => {
  const marked = { name: 'inbox', type: 'inbox', path: '/inbox', state: 'ok', waiting: 1 } as const;
  const moved = { ...marked, name: 'orders', state: 'no marker' } as const;
  const daemons = [{ host: 'a', pid: 1, version: '1', since: 0 }];
  const text = inboxText({ daemons, batches: [], sources: [marked, moved] });
  expect(text).toBe(
    '2 files in an inbox wait: orders has no marker and may be another folder: mount the share, or restart po-sync to use this one',
  );
  const empty = inboxText({ daemons, batches: [], sources: [marked, { ...moved, waiting: 0 }] });
  expect(empty).toContain('a file is taken when it is complete');
});

it.each<[number, WaitCode[], string]>([
  [1, ['not-permitted'], 'waits: po-sync may not read it'],
  [2, ['not-permitted', 'not-permitted'], 'wait: po-sync may not read them'],
  [
    3,
    ['not-permitted', 'changing'],
    'wait: po-sync may not read 1 of them; another file is taken when it is complete and unchanged',
  ],
])(
  'of %i files that wait in an inbox, those without read permission wait for it',
  (waiting, codes, text) => {
    const daemons = [{ host: 'a', pid: 1, version: '1', since: 0 }];
    const source = { name: 'inbox', type: 'inbox', path: '/inbox', state: 'ok', waiting } as const;
    const waitingFiles = codes.map((code) => ({ name: 'a.csv', why: { code, reason: code } }));
    const found = inboxText({ daemons, batches: [], sources: [{ ...source, waitingFiles }] });
    expect(found?.replace(/.*inbox /, '')).toBe(text);
  },
);

it('a file that a daemon cannot take is named, unless this user cannot read it either', () => {
  const file = {
    source: 'inbox',
    file: 'a.csv',
    reason: 'No permission to read a.csv.',
    remedy: 'Set it.',
  };
  const source = { name: 'inbox', type: 'inbox', path: '/inbox', state: 'ok' } as const;
  const ignored = { total: 1, entries: [{ name: 'a.csv', kind: 'no read permission' }] };
  expect(notTakenTexts({ sources: [source], notTaken: [file] })).toEqual([
    'a.csv of source inbox: No permission to read a.csv. Set it.',
  ]);
  expect(notTakenTexts({ sources: [{ ...source, ignored }], notTaken: [file] })).toEqual([]);
});

it('an inbox that a daemon cannot read is named, unless the line of its state says what to do', () => {
  const lost = {
    source: 'inbox',
    reason: 'The folder /inbox does not exist.',
    remedy: 'Mount its share.',
  };
  const textsOf = (state: 'missing' | 'no marker') =>
    notTakenTexts({ sources: [{ name: 'inbox', state }], notTaken: [lost] });
  expect(textsOf('missing')).toEqual([
    'source inbox: The folder /inbox does not exist. Mount its share.',
  ]);
  expect(textsOf('no marker')).toEqual([]);
});

it('a file that only the daemon cannot take is named once: also right after its permissions changed', () => {
  const notTaken = [
    { source: 'inbox', file: 'a.csv', reason: 'No permission to read a.csv (mode 0000).' },
  ];
  const daemons = [{ host: 'a', pid: 1, version: '1', since: 0, notTaken }];
  const inbox = { name: 'inbox', type: 'inbox', path: '/inbox', state: 'ok', waiting: 2 } as const;
  const seen = (why?: WaitingFile['why']) => {
    const waitingFiles = [{ name: 'a.csv', ...(why && { why }) }, { name: 'b.csv' }];
    const source = withObstacle({ ...inbox, waitingFiles }, { daemons, batches: [] });
    const facts = { daemons, batches: [], sources: [source], notTaken };
    return [inboxText(facts), ...otherWaitingTexts(source), ...notTakenTexts(facts)];
  };
  const ready = 'it is complete; a daemon takes it when it has seen it unchanged';
  expect(seen()).toEqual([
    '2 files in an inbox wait: a daemon cannot take 1 of them; another file is taken when it is complete and unchanged',
    `b.csv: ${ready}`,
    'a.csv of source inbox: No permission to read a.csv (mode 0000). po-sync tries again.',
  ]);
  expect(seen({ code: 'changing', reason: 'it is still changing' })).toEqual([
    '2 files in an inbox wait: a file is taken when it is complete and unchanged',
    'a.csv: it is still changing',
    `b.csv: ${ready}`,
  ]);
});

it.each([
  [0, 0, 'no daemon takes files now'],
  [1, 3, 'a file is taken when it is complete and unchanged'],
  [
    1,
    16,
    '16 files are being read, and a daemon reads at most 16 at a time; their orders are delivered first',
  ],
])(
  'with %i daemons and %i files being read, files in an inbox wait for a reason',
  (takers, reading, why) => {
    const one = { host: 'a', pid: 1, version: '1', since: 0 };
    const daemons = [
      { ...one, role: 'delivery' as const },
      ...Array.from({ length: takers }, () => one),
    ];
    const batches = Array.from({ length: reading }, () => ({ standing: 'reading' as const }));
    const source = { name: 'inbox', type: 'inbox' as const, path: '/inbox', state: 'ok' as const };
    const text = (waiting: number) =>
      inboxText({ daemons, batches, sources: [source, { ...source, waiting }] });
    expect([text(0), text(1), text(2)]).toEqual([
      undefined,
      `1 file in an inbox waits: ${why}`,
      `2 files in an inbox wait: ${why}`,
    ]);
  },
);
