import type { Log } from '../log/log.ts';

type Named = { batch: string; source: string; file: string };

/** The first pass reached the end of the file: it is readable. */
export function fileInspected(log: Log, facts: Named & { records: number; bytes: number }): void {
  log.info(facts, 'file is readable');
}

/** Every order of the file is in the ledger. */
export function batchAdmitted(log: Log, facts: Named & { orders: number }): void {
  log.info(facts, 'all orders of the file admitted');
}

/** The file cannot be read as orders; nothing of it was sent. */
export function batchUnreadable(log: Log, facts: Named & { code: string; reason: string }): void {
  log.warn(facts, 'file is unreadable, nothing of it is sent');
}

/** The last order of the batch has its outcome and the report is written. */
export function batchFinished(
  log: Log,
  facts: Named & { orders: number; accepted: number; needPerson: number; durationMs: number; report: string },
): void {
  if (facts.needPerson > 0) log.warn(facts, 'batch finished; some orders need a person');
  else log.info(facts, 'batch finished');
}

/** Its answers are refused alike: nothing more of it is sent until a person says so. */
export function batchHeld(log: Log, facts: { batch: string; reason: string }): void {
  log.warn(facts, 'batch held; see po-sync batches release or cancel');
}

/** A batch found again whose claim had outlived its daemon. */
export function batchTakenUp(log: Log, facts: Named): void {
  log.info(facts, 'unfinished batch taken up again');
}

/** A step with a file or report failed and is tried again. */
export function batchTrouble(log: Log, facts: { batch: string; reason: string }): void {
  log.warn(facts, 'trouble with a batch; it is tried again');
}
