import { readFileSync } from 'node:fs';

/** The program's version, from its package. */
export function versionOf(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
