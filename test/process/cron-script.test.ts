import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { writeExecutable } from '../support/executable.ts';
import { credentials, openWorkplace, type Workplace } from '../support/workplace.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const fileOf = (rows: string[]) =>
  `${['purchaseOrderNumber,articleCode,quantity', ...rows].join('\n')}\n`;

/** Writes the script as docs/operations.md has it, with paths of the workplace, and a program that keeps what it should mail. */
async function writeScript({ folder, config }: Workplace): Promise<string> {
  for (const name of ['etc', 'log', 'tools']) await mkdir(path.join(folder, name));
  const page = await readFile(path.join(ROOT, 'docs/operations.md'), 'utf8');
  const [, block = ''] = /^```sh\n(cat > \/etc\/po-sync\/run-once.*?)^```/ms.exec(page) ?? [];
  const here = block
    .replaceAll('/etc/po-sync/', `${folder}/etc/`)
    .replaceAll('/var/log/po-sync', `${folder}/log`)
    .replaceAll('/opt/po-sync', ROOT);
  const variables = { PO_SYNC_CONFIG: config, ...credentials('STAGING') };
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}='${value}'\n`);
  await writeFile(path.join(folder, 'etc/env'), lines.join(''));
  await writeExecutable(
    path.join(folder, 'tools/mail'),
    `echo "$*" >> '${folder}/mails'; cat >> '${folder}/mails'`,
  );
  expect(await run(folder, 'sh', ['-c', here])).toBe(0);
  return path.join(folder, 'etc/run-once');
}

function run(folder: string, program: string, args: string[] = []): Promise<number> {
  const env = { PATH: `${folder}/tools:${process.env['PATH'] ?? ''}` };
  return new Promise((resolve) => {
    execFile(program, args, { cwd: folder, env }, (error) =>
      resolve(error === null ? 0 : Number(error.code)),
    );
  });
}

it('the script for cron mails what needs a person and why a run failed, and does not run twice at a time', async () => {
  await using place = await openWorkplace();
  const { folder } = place;
  const script = await writeScript(place);
  const mails = () => readFile(path.join(folder, 'mails'), 'utf8').catch(() => '');
  await place.drop('good.csv', fileOf(['PO-1,A,1']));
  expect([await run(folder, script), await mails()]).toEqual([0, '']);
  expect(place.stored().get('PO-1')).toBe(1);

  await place.drop('wrong.csv', fileOf(['PO-2,A,none', 'PO-3,A,1']));
  expect(await run(folder, 'flock', [path.join(folder, 'log/lock'), script])).toBe(0);
  expect(place.stored().has('PO-3')).toBe(false);
  expect(await run(folder, script)).toBe(2);
  expect(await mails()).toMatch(
    /^-s po-sync: not finished, or somebody is needed orders@example\.com\n[\s\S]*wrong\.csv/,
  );
  expect(await mails()).toMatch(/exit code 2 at \d{4}-/);

  await writeFile(place.config, 'environment: [');
  expect(await run(folder, script)).toBe(1);
  expect(await mails()).toContain('-s po-sync: the run FAILED (exit code 1) orders@example.com\n');
  const log = await readFile(path.join(folder, 'log/runs.log'), 'utf8');
  expect(log.match(/^exit code/gm)).toHaveLength(2);
});
