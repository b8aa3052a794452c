import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../../src/notify/command.ts';
import { batchNeedsPerson } from '../../src/notify/notice.ts';
import { noOutcomes } from '../../src/order/outcome.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const NOTICE = batchNeedsPerson({
  environment: 'staging',
  at: 0,
  batch: '20261121T071500Z-inbox-orders-3f2a91c0',
  source: 'inbox',
  report: '/reports/20261121T071500Z-inbox-orders-3f2a91c0',
  orders: 5,
  needPerson: 2,
  counts: { ...noOutcomes(), accepted: 3, invalid: 2 },
});

const { signal } = new AbortController();

async function scriptIn(folder: string, text: string): Promise<string> {
  const file = path.join(folder, 'notify.sh');
  await writeFile(file, `#!/bin/sh\n${text}\n`);
  await chmod(file, 0o755);
  return file;
}

describe('a notified program', () => {
  it('gets the notice on standard input and in variables, its arguments unchanged, and no other variables', async () => {
    await using folder = await makeTempFolder();
    const script = await scriptIn(folder.path, 'cat > seen.json; printf "%s" "$1" > argument; env > env');
    const env = { PATH: '/usr/bin:/bin' };
    await runCommand([script, '$(id) "; x'], NOTICE, { env, cwd: folder.path, timeout: 5000, signal });
    const seen = (name: string) => readFile(path.join(folder.path, name), 'utf8');
    expect(JSON.parse(await seen('seen.json'))).toEqual(NOTICE);
    expect(await seen('argument')).toBe('$(id) "; x');
    const variables = (await seen('env')).trimEnd().split('\n');
    expect(variables).toEqual(
      expect.arrayContaining([
        'PO_SYNC_NOTICE_EVENT=attention',
        'PO_SYNC_NOTICE_KIND=finished',
        `PO_SYNC_NOTICE_BATCH=${NOTICE.batch}`,
        'PO_SYNC_NOTICE_NEED_PERSON=2',
        `PO_SYNC_NOTICE_REPORT=${NOTICE.report}`,
      ]),
    );
    expect(variables.filter((line) => !/^(PO_SYNC_NOTICE_|PATH=|PWD=|_=|SHLVL=|OLDPWD)/.test(line))).toEqual([]);
  });

  it('fails with its exit code and the beginning of its output', async () => {
    await using folder = await makeTempFolder();
    const script = await scriptIn(folder.path, 'echo no route >&2; head -c 100000 /dev/zero | tr "\\0" x; exit 3');
    const failure = runCommand([script], NOTICE, { env: { PATH: '/usr/bin:/bin' }, cwd: '/', timeout: 5000, signal });
    const error = await failure.catch((thrown: unknown) => String(thrown));
    expect(error).toMatch(/the program exited with 3: .*(no route|x{100})/s);
    expect(String(error).length).toBeLessThan(2_100);
  });

  it('is killed after its time limit, even if a child process keeps its output open', async () => {
    const command = ['sh', '-c', 'trap "" TERM; sleep 60 & sleep 60'];
    const env = { PATH: '/usr/bin:/bin' };
    await expect(runCommand(command, NOTICE, { env, cwd: '/', timeout: 100, signal })).rejects.toThrow(
      'the program was killed by SIGKILL (time limit 0.1 s)',
    );
  });

  it('that does not exist fails', async () => {
    const options = { env: {}, cwd: '/', timeout: 1000, signal };
    await expect(runCommand(['/nowhere/page'], NOTICE, options)).rejects.toThrow('ENOENT');
  });

  it('need not read its input', async () => {
    await runCommand(['true'], NOTICE, { env: { PATH: '/usr/bin:/bin' }, cwd: '/', timeout: 5000, signal });
  });
});
