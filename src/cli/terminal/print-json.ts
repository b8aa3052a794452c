import type { Shell } from '../shell.ts';
import { printableJson } from './printable.ts';

/** The one JSON document of a command that was told `--json`. */
export function printJson(shell: Pick<Shell, 'out'>, document: unknown): void {
  shell.out(`${printableJson(document)}\n`);
}
