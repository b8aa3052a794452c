import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { CLIENT_ID, CLIENT_SECRET } from '../support/open-sandbox.ts';
import { credentials, csvOf, openWorkplace, type Workplace } from '../support/workplace.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** Blocks that another test runs, or that cannot run here, and why. */
const ELSEWHERE: [block: RegExp, where: string][] = [
  [/^npm start\b/, 'test/process/npm-start.test.ts'],
  [/^\. data\/sandbox\/env\b/, 'test/process/npm-start.test.ts'],
  [/^npm run bench\b/, 'test/process/bench.test.ts'],
  [/^curl -H "Authorization: Bearer \$PO_SYNC_ADMIN_TOKEN/, 'test/admin/operations.slow.test.ts'],
  [/\nnpm pack --pack-destination\b/, 'test/deploy/container.test.ts'],
  [/\nnpm pack\n/, 'test/deploy/installed.test.ts'],
  [/^cat > \/etc\/po-sync\/run-once\b/, 'test/process/cron-script.test.ts'],
  [/^sudo install -d /, 'test/process/deploy.test.ts'],
  [
    /\nsudo mkdir -p \/opt\/po-sync\b/,
    'needs systemd; test/process/deploy.test.ts checks the unit and its configuration',
  ],
  [/^mkdir -p ~\/orders\/config\b/, 'test/deploy/installed.test.ts'],
  [
    /^cp -r docs\/deploy\/compose\b/,
    'needs Docker; test/process/deploy.test.ts runs the same sandbox and configuration',
  ],
  [/^pm2 start\b|\npm2 start\b/, 'test/process/pm2.test.ts'],
  [
    /^(?:sudo )?(?:env \S+ )?(?:pm2|npm install -g pm2)\b/,
    'needs root and the init system of the machine',
  ],
  [
    /^\*\/\d+ /,
    'needs cron; the command is that of README.md, or the script of test/process/cron-script.test.ts',
  ],
];

type Block = { file: string; language: string; text: string };

/** Every block of the README and of docs/ that contains commands. */
const blocks: Block[] = [
  'README.md',
  ...readdirSync(path.join(ROOT, 'docs')).map((name) => `docs/${name}`),
]
  .filter((file) => file.endsWith('.md'))
  .flatMap((file) =>
    [...readFileSync(path.join(ROOT, file), 'utf8').matchAll(/^```(\w+)\n(.*?)^```/gms)].map(
      ([, language = '', text = '']) => ({ file, language, text }),
    ),
  )
  .filter(({ language }) => ['sh', 'bash', 'console', 'cron', 'dockerfile'].includes(language));

const elsewhere = ({ text }: Block) => ELSEWHERE.find(([pattern]) => pattern.test(text))?.[1];

/** The command lines of a block, without comments and the output that follows them. */
function linesOf({ language, text }: Block): string[] {
  const lines = text.split('\n').map((line) => line.replace(/\s+(?:#|…).*$/, ''));
  const commands = language === 'console' ? lines.filter((line) => line.startsWith('$ ')) : lines;
  return commands
    .map((line) => line.replace(/^\$ /, '').trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** A command of po-sync and nothing that a shell does: it runs within this process. */
const PLAIN = /^(?:bin\/)?po-sync (?!rehearse)[\w ./:-]+$/;

const FAULTS = [
  { kind: 'answer', status: 400, message: 'articleCode is invalid', orders: ['HELD-*', 'PO-5'] },
  { kind: 'drop', when: 'before', orders: ['PO-1001'], how: 'reset' },
];
const SOURCES = `- { name: inbox, type: inbox, path: inbox, stable: 100ms, poll: 200ms }
  - { name: erp, type: export, path: erp.csv, mapping: erp }`;
const MAPPING =
  'mappings: { erp: { columns: { NO: { is: purchaseOrderNumber }, MAT: { is: articleCode }, QTY: { is: quantity } } } }';

/** Runs a server until it says that it is ready, then stops it, with its exit code. */
const UNTIL_READY = `until_ready() {
  local out pid; out=$(mktemp -p .)
  "$@" >"$out" 2>&1 & pid=$!
  while kill -0 $pid 2>/dev/null && ! grep -qE 'daemon ready|"baseUrl"' "$out"; do sleep 0.1; done
  kill -TERM $pid 2>/dev/null; wait $pid; local code=$?
  [ $code = 0 ] || cat "$out" >&2
  return $code
}`;

describe('the commands of the documentation', () => {
  const stack = new AsyncDisposableStack();
  let place: Workplace;
  let held = '';

  /** A place in which they make sense: an order in doubt, a refused one, a held batch, a log, files to try. */
  beforeAll(async () => {
    place = stack.use(
      await openWorkplace({
        faults: { faults: FAULTS },
        source: SOURCES,
        more: MAPPING,
        delivery: ', onDoubt: hold, concurrency: 2, refusalHold: { share: 50%, of: 6 }',
      }),
    );
    const at = (name: string) => path.join(place.folder, name);
    await place.drop('orders.csv', csvOf(5) + 'PO-1001,NEW,ART-7,3\n');
    const { out } = await place.run(['start', '--once']);
    await writeFile(at('po-sync.log'), out);
    await place.drop('held.csv', csvOf(30).replaceAll('PO-', 'HELD-'));
    await place.run(['start', '--once']);
    const { batches } = await place.json('batches', 'list');
    held = batches.find(({ file }: { file: string }) => file === 'held.csv').batch.slice(-8);
    await writeFile(at('orders.csv'), csvOf(3));
    await writeFile(at('export.csv'), 'NO;MAT;QTY\nPO-1;A;1\n');
    await writeFile(at('client-id'), CLIENT_ID, { mode: 0o600 });
    await writeFile(at('client-secret'), CLIENT_SECRET, { mode: 0o600 });
    await mkdir(at('tools'));
    await mkdir(at('bin'));
    await mkdir(at('config'));
    await mkdir(at('fresh'));
    await symlink(path.join(ROOT, 'bin', 'po-sync'), at('tools/po-sync'));
    await symlink(path.join(ROOT, 'bin', 'po-sync'), at('bin/po-sync'));
    await cp(path.join(ROOT, 'config', 'rehearsals'), at('config/rehearsals'), { recursive: true });
    await cp(path.join(ROOT, 'config', 'po-sync.starter.yaml'), at('config/po-sync.starter.yaml'));
  });
  afterAll(() => stack.disposeAsync());

  it('each run here or elsewhere, or there is a reason', () => {
    expect(blocks.length).toBeGreaterThan(12);
    const lost = ELSEWHERE.filter(
      ([, where]) => where.startsWith('test/') && !existsSync(path.join(ROOT, where)),
    );
    expect(lost).toEqual([]);
    const unused = ELSEWHERE.filter(([pattern]) => !blocks.some(({ text }) => pattern.test(text)));
    expect(unused).toEqual([]);
  });

  /** What a reader replaces: names, paths, addresses, a free port; a daemon is stopped once it is ready. */
  function adapted(line: string, port: number): string[] {
    const own = line
      .replace('3f2a91c0', held)
      .replace(/\/path\/to\/|\/etc\/po-sync\/(?=client)/g, `${place.folder}/`)
      .replace('--port 8080', `--port ${port}`)
      .replace(/^((?:bin\/)?po-sync (?:start|sandbox)\b(?!.*--once).*)$/, 'until_ready $1')
      .replace(
        /^(.*(?:dead-letters (?:retry|discard|resolve)|batches (?:release|cancel)) .*)$/,
        '$1 --yes',
      );
    const { baseUrl, authUrl } = place.api;
    const addresses = `sed -i 's#baseUrl: .*#baseUrl: ${baseUrl}#; s#authUrl: .*#authUrl: ${authUrl}#; s#../inbox#../fresh#' config/po-sync.yaml`;
    return line.startsWith('cp config/po-sync.starter.yaml') ? [own, addresses] : [own];
  }

  async function runInside(lines: readonly string[]): Promise<string> {
    for (const line of lines) {
      const { code, err } = await place.run(line.split(' ').slice(1), { USER: 'anna' });
      if (code !== 0 && code !== 2) return `exit ${code}: ${line}\n${err}`;
    }
    return '';
  }

  async function runBlock(block: Block): Promise<string> {
    const port = await freePort(2);
    const lines = linesOf(block).flatMap((line) => adapted(line, port));
    if (lines.every((line) => PLAIN.test(line))) return runInside(lines);
    // 2: something needs a person.
    const script = lines.map(
      (line) =>
        `${line}\ncode=$?; [ $code = 0 ] || [ $code = 2 ] || { echo "exit $code: ${line.replace(/[\\"$`]/g, '')}" >&2; exit 1; }`,
    );
    const isReadme = block.text.includes('config/po-sync.yaml');
    const env = {
      PATH: `${place.folder}/tools:${process.env['PATH'] ?? ''}`,
      USER: 'anna',
      PO_SYNC_ADMIN_PORT: '0',
      ...(isReadme ? {} : { PO_SYNC_CONFIG: place.config, ...credentials('STAGING') }),
    };
    const isExporting = linesOf(block).some((line) =>
      line.startsWith('export PO_SYNC_STAGING_CLIENT_ID='),
    );
    if (isExporting) delete (env as Record<string, string>)['PO_SYNC_STAGING_CLIENT_ID'];
    return new Promise((resolve) => {
      execFile(
        'bash',
        ['--norc', '-c', [UNTIL_READY, ...script].join('\n')],
        { cwd: place.folder, env },
        (error, _, err) => {
          resolve(error === null ? '' : err);
        },
      );
    });
  }

  const here = blocks.filter((block) => elsewhere(block) === undefined);
  it.each(here.map((block) => ({ block, title: `${block.file}: ${linesOf(block)[0]}` })))(
    'run: $title',
    async ({ block }) => {
      expect(linesOf(block).length).toBeGreaterThan(0);
      expect(await runBlock(block)).toBe('');
    },
  );
});
