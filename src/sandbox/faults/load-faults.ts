import { LineCounter, parseDocument } from 'yaml';
import { PoSyncError } from '../../core/errors.ts';
import { type FaultFile, faultFile } from './fault-file.ts';

/**
 * Reads the text of a fault file. `name` stands in messages.
 * Throws PoSyncError `faults-unreadable` with every problem and its line.
 */
export function loadFaults(text: string, name: string): FaultFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  if (document.errors.length > 0) {
    throw unreadable(
      name,
      document.errors.map((error) => `line ${lines.linePos(error.pos[0]).line}: ${firstLine(error.message)}`),
    );
  }
  const checked = faultFile.safeParse(document.toJS({ maxAliasCount: 10 }) ?? {});
  if (checked.success) return checked.data;
  throw unreadable(
    name,
    checked.error.issues.map(({ path, message }) => `${placeOf(document, lines, path)}${path.join('.')}: ${message}`),
  );
}

function unreadable(name: string, problems: readonly string[]): PoSyncError {
  return new PoSyncError('faults-unreadable', `${name} is not a fault file:\n  ${problems.join('\n  ')}`, {
    remedy: 'config/rehearsals/ holds examples of every fault.',
    facts: { file: name },
  });
}

/** The line of the deepest node on the way to a problem. */
function placeOf(document: ReturnType<typeof parseDocument>, lines: LineCounter, path: readonly PropertyKey[]): string {
  for (let depth = path.length; depth >= 0; depth -= 1) {
    const node = document.getIn(path.slice(0, depth), true);
    const start = rangeStart(node);
    if (start !== undefined) return `line ${lines.linePos(start).line}: `;
  }
  return '';
}

function rangeStart(node: unknown): number | undefined {
  if (typeof node !== 'object' || node === null || !('range' in node) || !Array.isArray(node.range)) return undefined;
  const start: unknown = node.range[0];
  return typeof start === 'number' ? start : undefined;
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
