/** Where a dead letter that still waits is counted: its batch, and its field in the batch's `closed`. */
export type OpenDeadLetter = { batch: string; field: string };

/** Reads what `waiting` holds for a number: one `batch/ordinal` a line. */
export function readOpenDeadLetters(text: string): OpenDeadLetter[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const slash = line.lastIndexOf('/');
      return { batch: line.slice(0, slash), field: line.slice(slash + 1) };
    });
}
