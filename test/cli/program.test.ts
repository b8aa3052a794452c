import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMANDS, runProgram } from '../../src/cli/program.ts';
import { versionOf } from '../../src/core/version.ts';
import { fakeShell } from '../support/fake-shell.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const NAMES = COMMANDS.map(({ name }) => name);

async function run(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const shell = fakeShell({ argv });
  return { code: await runProgram(shell), ...shell.written };
}

describe('help', () => {
  it.each(['', 'config', 'batches', 'dead-letters', 'completion', ...NAMES])(
    'of "%s" shows the common flags, an example and the exit codes',
    async (name) => {
      const { code, out, err } = await run(
        ...name.split(' ').filter((word) => word !== ''),
        '--help',
      );
      expect({ code, err }).toEqual({ code: 0, err: '' });
      for (const flag of [
        '--config',
        '--environment',
        '--confirm',
        '--json',
        '--help',
        '--version',
      ]) {
        expect(out).toContain(flag);
      }
      expect(out).toMatch(/\nExamples:\n {2}(npm start|source .*po-sync|po-sync) ?/);
      expect(out).toMatch(/\nExit codes:\n {2}0 /);
      expect(out).not.toContain('(default: false)');
      expect(Math.max(...out.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
    },
  );

  it('of a group without a subcommand goes to standard error, and the exit code is 1', async () => {
    expect(await run('batches')).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('list [options]'),
    });
  });

  it.each([
    ['frob', 'po-sync'],
    ['batches lst', 'po-sync batches'],
  ])('of the unknown command "%s" is an error', async (names, parent) => {
    const { code, out, err } = await run('help', ...names.split(' '));
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^po-sync: unknown command/);
    expect(err).toContain(`${parent} --help`);
  });

  it('of a subcommand is the one that its own flag shows', async () => {
    expect(await run('help', 'batches', 'show')).toEqual(await run('batches', 'show', '--help'));
  });

  it.each([
    [['--json', 'help'], /^Usage: po-sync /],
    [['batches', 'show', '--help', '--json'], /^Usage: po-sync batches show/],
    [['help', 'doctor', '--json'], /^Usage: po-sync doctor/],
  ])('%j is one JSON document', async (argv, text) => {
    const { code, out, err } = await run(...argv);
    expect({ code, err, shown: JSON.parse(out) }).toEqual({
      code: 0,
      err: '',
      shown: { help: expect.stringMatching(text) },
    });
  });

  it('--version --json is one JSON document', async () => {
    const { code, out, err } = await run('--version', '--json');
    expect({ code, err, shown: JSON.parse(out) }).toEqual({
      code: 0,
      err: '',
      shown: { version: versionOf() },
    });
  });

  it('shows the defaults of options that have a value', async () => {
    expect((await run('start', '--help')).out).toMatch(
      /--max-wait <duration> +how long .*\(default: 15m\)/,
    );
  });
});

const MISTAKES: [argv: string, code: string, message: string, help: string][] = [
  [
    'statsu',
    'usage-unknown-command',
    "unknown command 'statsu' (Did you mean status?)",
    'po-sync --help',
  ],
  [
    'dead-letters lst',
    'usage-unknown-command',
    "unknown command 'lst' (Did you mean list?)",
    'po-sync dead-letters --help',
  ],
  [
    'config shw',
    'usage-unknown-command',
    "unknown command 'shw' (Did you mean show?)",
    'po-sync config --help',
  ],
  [
    'batches list --limt 3',
    'usage-unknown-option',
    "unknown option '--limt' (Did you mean --limit?)",
    'po-sync batches list --help',
  ],
  [
    'batches list --limit 0',
    'usage-invalid-argument',
    "option '--limit <count>' argument '0' is invalid. Enter a whole number above 0, such as 100.",
    'po-sync batches list --help',
  ],
  [
    'explain',
    'usage-missing-argument',
    "missing required argument 'order'",
    'po-sync explain --help',
  ],
  [
    'dead-letters resolve PO-1',
    'usage-missing-mandatory-option-value',
    "required option '--as <what>' not specified",
    'po-sync dead-letters resolve --help',
  ],
  [
    'dead-letters discard --batch A --batch B --yes',
    'usage-repeated-option',
    "option '--batch <batch>' takes one value, and is given more than once; run the command once for each",
    'po-sync dead-letters discard --help',
  ],
  [
    'status -e staging --environment production',
    'usage-repeated-option',
    "option '-e, --environment <name>' takes one value, and is given more than once; run the command once for each",
    'po-sync --help',
  ],
];

describe('a wrong command line', () => {
  it.each(MISTAKES)('%s is one message with the help to read', async (argv, _, message, help) => {
    expect(await run(...argv.split(' '))).toEqual({
      code: 1,
      out: '',
      err: `po-sync: ${message}\n  Try \`${help}\`.\n`,
    });
  });

  it.each([
    ...MISTAKES,
    [
      'batches',
      'usage-missing-command',
      'po-sync batches needs a subcommand.',
      'po-sync batches --help',
    ] as const,
  ])('%s --json is one JSON document', async (argv, code, message, help) => {
    const { code: exit, out, err } = await run(...argv.split(' '), '--json');
    expect({ exit, err }).toEqual({ exit: 1, err: '' });
    expect(JSON.parse(out)).toEqual({
      error: {
        code,
        message,
        remedy: `Try \`${help}\`.`,
        facts: { command: help.replace(' --help', '') },
      },
    });
  });

  it('cannot inject escape sequences into the terminal', async () => {
    const { err } = await run('\u001b[2Jbegin');
    expect(err).not.toContain('\u001b');
    expect(err).toContain('\\u001b[2Jbegin');
  });

  it('status --watch --json is refused', async () => {
    const { code, out } = await run('status', '--watch', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      error: { code: 'usage-conflicting-option', remedy: expect.any(String) },
    });
  });
});

it('an error of a command has code, message, remedy and facts in JSON', async () => {
  const { code, out } = await run('--json', 'status', '--config', '/nowhere.yaml');
  expect(code).toBe(1);
  expect(JSON.parse(out)).toEqual({
    error: {
      code: 'config-missing',
      message: expect.stringContaining('/nowhere.yaml'),
      remedy: expect.any(String),
      facts: expect.any(Object),
    },
  });
});

/** What bash offers after these words. */
async function completed(folder: string, words: string[]): Promise<string[]> {
  const script = path.join(folder, 'completion.bash');
  await writeFile(script, (await run('completion', 'bash')).out);
  const list = words.map((word) => `'${word}'`).join(' ');
  const program = `source ${script}; COMP_WORDS=(po-sync ${list}); COMP_CWORD=${words.length}; _po_sync po-sync '${words.at(-1)}'; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', program], { encoding: 'utf8' }).trim().split('\n');
}

describe('completion', () => {
  it.each([
    [['bat'], ['batches']],
    [
      ['dead-letters', 're'],
      ['retry', 'resolve'],
    ],
    [['dead-letters', 'retry', '--li'], ['--limit']],
    [['--json', 'batches', 'list', '--o'], ['--open']],
    [['status', '--env'], ['--environment']],
    [['batches', 'list', ''], ['']],
    // Files, which the shell itself offers.
    [['check', ''], ['']],
  ])('of bash offers after %j: %j', async (words, offers) => {
    await using folder = await makeTempFolder();
    expect(await completed(folder.path, words)).toEqual(offers);
  });

  it.each(['bash', 'zsh'])('of %s knows every command', async (shell) => {
    const { code, out } = await run('completion', shell);
    expect(code).toBe(0);
    for (const name of NAMES) expect(out).toContain(name.split(' ').at(-1));
  });

  it('with --json is one JSON document', async () => {
    const { out } = await run('completion', 'bash');
    expect(JSON.parse((await run('completion', 'bash', '--json')).out)).toEqual({
      shell: 'bash',
      script: out,
    });
  });

  it('of another shell is refused', async () => {
    expect(await run('completion', 'tcsh')).toMatchObject({
      code: 1,
      err: expect.stringContaining('bash, zsh'),
    });
  });
});
