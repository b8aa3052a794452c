import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { accountOf, allReported, type DroppedFile, dropOrders } from '../support/account.ts';
import { canMount } from '../support/can-mount.ts';
import { startTestRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';
import { credentials, openWorkplace, type Workplace } from '../support/workplace.ts';

// Reports that cannot be written cost no order, and come later, complete.

const LAUNCHER = path.resolve(import.meta.dirname, '../../bin/po-sync');
const ALL_THERE = { lost: 0, double: 0, givenUp: 0, untidy: [] };

/** A daemon whose report folder can be broken and repaired while it works. */
type Subject = AsyncDisposable & {
  /** Where the reports are seen from here. */
  reports: string;
  out(): string;
  breakFolder(): Promise<void>;
  mendFolder(): Promise<void>;
};

/** A file takes the folder's place: that stops root too, in any container. */
async function fileInstead(place: Workplace): Promise<Subject> {
  const [folder, file, next] = ['folder', 'file', 'next'].map(
    (name) => `${place.reports}-${name}`,
  ) as [string, string, string];
  await mkdir(folder);
  await writeFile(file, 'not a folder');
  const lead = async (to: string) => {
    await symlink(to, next);
    await rename(next, place.reports);
  };
  await lead(folder);
  const daemon = place.start(['start']);
  return {
    reports: place.reports,
    out: () => daemon.out(),
    breakFolder: () => lead(file),
    mendFolder: () => lead(folder),
    [Symbol.asyncDispose]: async () => {
      daemon.child.kill('SIGTERM');
      await daemon.ended;
    },
  };
}

/** The daemon runs where the folder is a separate file system, which `broken` and `fixed` change. */
function onFileSystem(options: string, broken: string, fixed: string) {
  return async (place: Workplace): Promise<Subject> => {
    await mkdir(place.reports, { recursive: true });
    const script = `mount -t tmpfs -o ${options} none "$REPORTS"
"$LAUNCHER" --config "$CONFIG" start & daemon=$!
trap 'kill -TERM $daemon; wait $daemon; exit' TERM
echo "pid $daemon"
while read -r what; do
  case $what in broken) ${broken};; fixed) ${fixed};; esac
  echo "$what now"
done`;
    const shell = spawn('unshare', ['-m', 'sh', '-c', script], {
      cwd: place.folder,
      env: {
        PATH: process.env['PATH'] ?? '',
        ...credentials('STAGING'),
        PO_SYNC_ADMIN_PORT: '0',
        LAUNCHER,
        CONFIG: place.config,
        REPORTS: place.reports,
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines: string[] = [];
    createInterface(shell.stdout).on('line', (line) => void lines.push(line));
    const line = (pattern: RegExp) =>
      until(String(pattern), () => pattern.exec(lines.join('\n'))?.[0]);
    const pid = (await line(/^pid \d+/m)).slice(4);
    async function say(what: string): Promise<void> {
      shell.stdin.write(`${what}\n`);
      await line(new RegExp(`^${what} now`, 'm'));
    }
    return {
      reports: `/proc/${pid}/root${place.reports}`,
      out: () => lines.join('\n'),
      breakFolder: () => say('broken'),
      mendFolder: () => say('fixed'),
      [Symbol.asyncDispose]: async () => {
        process.kill(Number(pid), 'SIGTERM');
        shell.stdin.end();
        await once(shell, 'close');
      },
    };
  };
}

const TROUBLED = [
  'status',
  'doctor',
  'pause',
  'reconcile',
  'batches list',
  'dead-letters list',
  'start --once --max-wait 1s',
];

describe.runIf(canMount)('a full disk below `data`', () => {
  it('is one clear error with a remedy in every command, and status shows what runs until Redis ends', async () => {
    await using place = await openWorkplace({ redis: 'private' });
    const script = `mkdir data && mount -t tmpfs -o size=8m,mode=0700 none data
run() { echo "# $*"; "$LAUNCHER" --config "$CONFIG" "$@" 2>&1; echo "code $?"; }
"$LAUNCHER" --config "$CONFIG" start >daemon.log 2>&1 & daemon=$!
timeout 600 sh -c 'until grep -q "daemon ready" daemon.log; do sleep 0.2; done' || exit
dd if=/dev/zero of=data/filler bs=4k 2>/dev/null
run status
kill $daemon; wait $daemon
rm -r data/redis data/filler; mkdir data/redis
dd if=/dev/zero of=data/filler bs=4k 2>/dev/null
${TROUBLED.map((command) => `run ${command}`).join('\n')}
`;
    const shell = spawn('unshare', ['-m', 'sh', '-c', script], {
      cwd: place.folder,
      env: {
        PATH: process.env['PATH'] ?? '',
        ...credentials('STAGING'),
        PO_SYNC_ADMIN_PORT: '0',
        LAUNCHER,
        CONFIG: place.config,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [running = '', ...troubled] = (await text(shell.stdout)).split(/^# /m).slice(1);
    // Redis ends as soon as it cannot write, which may be before status has read it all.
    expect(running).toMatch(
      / 1 running[\s\S]*code 0|(?:does not answer|was lost|ENOSPC)[\s\S]*code 1/,
    );
    expect(troubled.map((part) => part.split('\n')[0])).toEqual(TROUBLED);
    for (const part of troubled) {
      expect(part).toMatch(/data\/redis: (?:ENOSPC|database or disk is full)/);
      expect(part).toContain('Free some space on its disk');
      expect(part).toContain('code 1');
      expect(part).not.toMatch(/^\s+at /m);
    }
  });
});

const FULL = 'dd if=/dev/zero of="$REPORTS/filler" bs=64k 2>/dev/null; true';
const WAYS: [string, (place: Workplace) => Promise<Subject>][] = canMount
  ? [
      [
        'is read-only',
        // Busy while a file in it is open for writing.
        onFileSystem(
          'size=64m',
          'until mount -o remount,ro "$REPORTS" 2>/dev/null; do sleep 0.05; done',
          'mount -o remount,rw "$REPORTS"',
        ),
      ],
      ['is full', onFileSystem('size=4m', FULL, 'rm "$REPORTS/filler"')],
    ]
  : [['has a file in its place', fileInstead]];

describe('a report folder that under load', () => {
  it.each(WAYS)('%s delays no order, and gets its complete reports later', async (_, startOn) => {
    await using redis = await startTestRedis();
    await using place = await openWorkplace({
      redis: redis.url,
      faults: { faults: [{ kind: 'delay', by: '20ms' }] },
    });
    await using daemon = await startOn(place);
    await until('ready', () => daemon.out().includes('daemon ready'));
    const dropped: DroppedFile[] = [];
    const stored = (count: number) => until(`${count} orders`, () => place.stored().size >= count);
    await dropOrders(place, dropped, 30);
    await allReported({ ...place, reports: daemon.reports }, dropped);
    await dropOrders(place, dropped, 400);
    await stored(100);
    await daemon.breakFolder();
    await dropOrders(place, dropped, 50);
    await dropOrders(place, dropped, 5);
    await stored(485);
    await until(
      'a word of it',
      () =>
        daemon.out().includes('report-not-written') ||
        /could not be written|is gone/.test(daemon.out()),
    );
    await daemon.mendFolder();
    const seen = { ...place, reports: daemon.reports };
    await allReported(seen, dropped);
    expect(await accountOf(seen, dropped)).toMatchObject({ ...ALL_THERE, orders: 485 });
  });
});
