import { type ErrorFacts, PoSyncError } from '../core/errors.ts';

/** A file that cannot be read as orders: nothing of it is sent. All codes begin with `unreadable-`. */
export function unreadable(what: string, message: string, facts: ErrorFacts, remedy?: string): PoSyncError {
  return new PoSyncError(`unreadable-${what}`, message, remedy === undefined ? { facts } : { facts, remedy });
}

/** A file without any content, probably sent by mistake. */
export function emptyFile() {
  const remedy = 'Drop the complete file again.';
  return unreadable('empty', 'The file is empty: it has no header and no orders.', {}, remedy);
}
