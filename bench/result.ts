import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg, release, totalmem } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { findRedisServer } from '../src/redis/private-server/server-process.ts';
import { isMet, type Line } from './line.ts';
import { median } from './median.ts';
import type { Part } from './table.ts';

const ROOT = path.resolve(import.meta.dirname, '..');

/** The machine and commit of a run. */
export type Ground = {
  /** The short name of the commit; `+` when files differ from it. */
  commit: string;
  processor: string;
  cores: number;
  memoryMb: number;
  kernel: string;
  /** The load average of the minute before; above some tenths, other programs were running. */
  load: number;
  versions: Record<'node' | 'redis' | 'undici' | 'bullmq', string>;
};

/** One run as it is stored. */
export type Result = { at: string; form: Form; ground: Ground; parts: Part[] };

/** Only complete runs are compared and go into the history. */
export type Form = 'whole' | 'quick' | 'part';

const run = promisify(execFile);

export async function lookAround(): Promise<Ground> {
  const processors = cpus();
  return {
    commit: await commitNow(),
    processor: processors[0]?.model ?? 'unknown',
    cores: processors.length,
    memoryMb: Math.round(totalmem() / 1024 / 1024),
    kernel: release(),
    load: loadavg()[0] ?? 0,
    versions: {
      node: process.versions.node,
      redis: (await findRedisServer())?.version ?? 'none',
      undici: await versionOf('undici'),
      bullmq: await versionOf('bullmq'),
    },
  };
}

/** Stores a run in a file named by time and commit; returns its name. */
export async function keepResult(result: Result, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const { at, form, ground } = result;
  const stamp = at.slice(0, 16).replace(/[-:]/g, '');
  const commit = ground.commit.replace('+', '-changed');
  const file = path.join(folder, `${stamp}-${commit}${form === 'whole' ? '' : `-${form}`}.json`);
  const text = JSON.stringify({ ...result, parts: result.parts.map(withMedians) }, null, 2);
  // Samples are on one line each, for short diffs.
  const compact = text.replace(
    /\[\s+([\d.,\s-]+?)\s+\]/g,
    (_, numbers: string) => `[${numbers.replace(/\s+/g, ' ')}]`,
  );
  await writeFile(file, `${compact}\n`);
  return file;
}

function withMedians(part: Part) {
  return { ...part, lines: part.lines.map(withMedian) };
}

function withMedian(line: Line) {
  const medians = Object.fromEntries(
    Object.entries(line.samples).map(([name, values]) => [name, median(values)]),
  );
  return {
    ...line,
    medians,
    targets: line.targets?.map((target) => ({ ...target, met: isMet(target) })),
  };
}

async function commitNow(): Promise<string> {
  const git = (...args: string[]) =>
    run('git', ['-C', ROOT, ...args]).then(({ stdout }) => stdout.trim());
  try {
    const [commit, changes] = [
      await git('rev-parse', '--short', 'HEAD'),
      await git('status', '--porcelain', 'src'),
    ];
    return changes === '' ? commit : `${commit}+`;
  } catch {
    return 'unknown';
  }
}

async function versionOf(name: string): Promise<string> {
  const text = await readFile(path.join(ROOT, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
