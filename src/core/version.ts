import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The program's version, from its package. */
export function versionOf(): string {
  const text = readFileSync(path.join(import.meta.dirname, '../../package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
