import { codeOf, PoSyncError } from '../core/errors.ts';
import type { Inspection } from '../mapping/read-records.ts';
import { type Sentence, sentence } from '../order/sentence.ts';

const LINE_END = 'its last row has no line end';

/** What a file lacks to be complete, by what its first pass found or how it failed; undefined for nothing. */
export function lackOf(found: Pick<Inspection, 'isOpenEnded'> | Error): Sentence | undefined {
  const text = textOf(found);
  return text === undefined ? undefined : sentence(text);
}

function textOf(found: Pick<Inspection, 'isOpenEnded'> | Error): string | undefined {
  if (!(found instanceof Error)) return found.isOpenEnded ? LINE_END : undefined;
  if (!(found instanceof PoSyncError)) return `it cannot be opened (${codeOf(found)})`;
  const { code, facts } = found;
  switch (code) {
    case 'unreadable-empty':
      return 'it is empty';
    case 'unreadable-incomplete':
      return `${facts['lacks']} is missing`;
    case 'unreadable-no-last-row':
      return 'its last row is not the one that lastRow names';
    case 'unreadable-header':
      return facts['isOpenEnded'] === true ? LINE_END : undefined;
    case 'file-changed':
      return 'it is still changing';
    // Time alone changes no permissions: what takes the file reports them.
    case 'file-not-readable':
      return undefined;
    default:
      return code.startsWith('unreadable-') ? undefined : `it cannot be opened (${code})`;
  }
}
