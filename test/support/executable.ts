import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Writes a shell script that can be run, with the folders above it; gives its path. */
export async function writeExecutable(file: string, ...lines: string[]): Promise<string> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, ['#!/bin/sh', ...lines, ''].join('\n'));
  await chmod(file, 0o755);
  return file;
}
