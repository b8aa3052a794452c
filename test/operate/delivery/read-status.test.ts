import { expect, it } from 'vitest';
import type { WaitingFile } from '../../../src/intake/waiting.ts';
import { inboxText, waitingTexts } from '../../../src/operate/delivery/source-status.ts';

const DAEMON = { host: 'a', pid: 1, version: '1', since: 0 };
const INBOX = { name: 'inbox', type: 'inbox', path: '/inbox', state: 'ok' } as const;

it('files in an inbox without its marker wait for the marker', () => {
  const [marked, moved] = [
    { ...INBOX, waiting: 1 },
    { ...INBOX, name: 'orders', state: 'no marker' as const },
  ];
  const text = (waiting: number) =>
    inboxText({ daemons: [DAEMON], batches: [], sources: [marked, { ...moved, waiting }] });
  expect(text(1)).toBe(
    '2 files in an inbox wait: orders has no marker and may be another folder: mount the share, or restart po-sync to use this one',
  );
  expect(text(0)).toBe('1 file in an inbox waits');
});

it('each file has its own reason', () => {
  const why: WaitingFile['why'] = { code: 'changing', reason: 'it is still changing' };
  const source = {
    ...INBOX,
    waiting: 3,
    waitingFiles: [{ name: 'a.csv', why }, { name: 'b.csv' }],
  };
  expect(waitingTexts(source)).toEqual(['a.csv: it is still changing', 'b.csv', 'and 1 more']);
});

it.each([
  [0, 0, ': no daemon takes files now'],
  [1, 3, ''],
  [
    1,
    16,
    ': 16 files are being read, and a daemon reads at most 16 at a time; their orders are delivered first',
  ],
])(
  'with %i daemons and %i files being read, files in an inbox wait for it',
  (takers, reading, why) => {
    const delivers = { ...DAEMON, role: 'delivery' as const };
    const daemons = [delivers, ...Array.from({ length: takers }, () => DAEMON)];
    const batches = Array.from({ length: reading }, () => ({ standing: 'reading' as const }));
    const text = (waiting: number) =>
      inboxText({ daemons, batches, sources: [INBOX, { ...INBOX, waiting }] });
    expect([text(0), text(1), text(2)]).toEqual([
      undefined,
      `1 file in an inbox waits${why}`,
      `2 files in an inbox wait${why}`,
    ]);
  },
);
