import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  accountOf,
  allReported,
  countOf,
  type DroppedFile,
  dropOrders,
} from '../support/account.ts';
import { type Running, startProgram } from '../support/program.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { until } from '../support/until.ts';
import { credentials, openWorkplace, type Workplace } from '../support/workplace.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const ALL_THERE = { lost: 0, double: 0, givenUp: 0, untidy: [] };
const FAULTS = { faults: [{ kind: 'delay', by: '10ms..40ms' }] };

let stack: AsyncDisposableStack;
/** The launcher of a version with a newer format of the ledger. */
let newFormat: string;

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  newFormat = await installVersion('0.3.0', (store) => {
    expect(store).toContain('const LEDGER_FORMAT = 1;');
    return store.replace('const LEDGER_FORMAT = 1;', 'const LEDGER_FORMAT = 2;');
  });
});
afterAll(() => stack.disposeAsync());

/** A copy of this package with another version number. */
async function installVersion(version: string, change: (store: string) => string): Promise<string> {
  const folder = stack.use(await makeTempFolder()).path;
  const at = (name: string) => path.join(folder, name);
  for (const part of ['bin', 'config', 'src'])
    await cp(path.join(ROOT, part), at(part), { recursive: true });
  await symlink(path.join(ROOT, 'node_modules'), at('node_modules'));
  const facts = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8'));
  await writeFile(at('package.json'), JSON.stringify({ ...facts, version }));
  const store = at('src/redis/store.ts');
  await writeFile(store, change(await readFile(store, 'utf8')));
  return at('bin/po-sync');
}

/** Runs a version in the workplace; it ends with the test. */
function run(
  place: Workplace,
  launcher: string,
  args: readonly string[],
): Running & AsyncDisposable {
  const env = { ...credentials('STAGING'), PO_SYNC_ADMIN_PORT: '0' };
  const running = startProgram(['--config', place.config, ...args], {
    cwd: place.folder,
    env,
    launcher,
  });
  return {
    ...running,
    async [Symbol.asyncDispose]() {
      running.child.kill('SIGKILL');
      await running.ended;
    },
  };
}

const THIS = path.join(ROOT, 'bin/po-sync');
const ready = ({ out }: Running) =>
  until('a daemon is ready', () => out().includes('po-sync is ready'));
it('a newer ledger format ends an older daemon with 1 under load, but a command of that version that only reads does not', async () => {
  await using place = await openWorkplace({ faults: FAULTS });
  await using older = run(place, THIS, ['start']);
  await ready(older);
  const dropped: DroppedFile[] = [];
  await dropOrders(place, dropped, 600);
  expect(await run(place, newFormat, ['status']).ended).toMatchObject({ code: 0 });
  expect((await run(place, THIS, ['doctor']).ended).out).toMatch(
    /^ok +ledger format +1, as this version writes it$/m,
  );
  const wouldConvert =
    /^warn +ledger format +1; a daemon of this version converts it to 2, and older versions do not/m;
  expect((await run(place, newFormat, ['doctor']).ended).out).toMatch(wouldConvert);
  await until('a third of the work', () => countOf(place.events, 'stored') > 200);
  await using newer = run(place, newFormat, ['start']);
  expect(await older.ended).toMatchObject({
    code: 1,
    err: expect.stringContaining(
      'A newer version of po-sync writes this ledger (format 2; this version reads 1).\n  Install the newer version here, too.',
    ),
  });
  await allReported(place, dropped);
  await ready(newer);
  expect(await accountOf(place, dropped)).toMatchObject({ orders: 600, ...ALL_THERE });
  expect(await run(place, THIS, ['start', '--once']).ended).toMatchObject({ code: 1 });
});
