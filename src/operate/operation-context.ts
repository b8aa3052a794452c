import type { ClaimedFile } from '../order/batch.ts';
import type { PersonJobs } from '../queue/person-jobs.ts';
import type { Look } from '../reconcile/list-proof.ts';
import type { ListCheck } from './delivery/api-list.ts';
import type { Status } from './delivery/read-status.ts';
import type { Finding } from './doctor/finding.ts';
import type { ListTables } from './lists/list-tables.ts';
import type { OperatorContext } from './operator-context.ts';

/** What operations work on, in a daemon and in a command. */
export type OperationContext = OperatorContext & {
  /** The state of the environment. `awaySince`: a daemon that cannot reach Redis knows only the last one. */
  status(): Promise<{ status: Status; awaySince?: number }>;
  /** The batches and open dead letters as a daemon lists them; a command reads ledger and reports. */
  lists?: () => Promise<ListTables>;
  /** Looks orders up in the API's list. */
  checkList(numbers: ReadonlySet<string>): Promise<ListCheck>;
  /** Reads the API's list. */
  readList: Look;
  /** Checks what the process itself needs. */
  examine(): Promise<Finding[]>;
  /** Shows a person at a command line what it waits for. */
  say?: (text: string) => void;
  /** Reads a file that was submitted; undefined where this daemon only delivers. */
  take: ((file: ClaimedFile) => Promise<void>) | undefined;
  /** What is done with many dead letters, also after a restart. */
  jobs: PersonJobs<BulkJob, BulkEnd>;
};

/**
 * What a person wants done with the dead letters of the plan that has the id of the job. `on`: as the history of actions names
 * it. `isKept`: they were shown before; `isPartial`: something that was selected is not planned.
 */
export type BulkJob = {
  verb: 'sent again' | 'discarded';
  who: string;
  on: string;
  isKept: boolean;
  isPartial: boolean;
};

/** What a job did. `text`: its lines. */
export type BulkEnd = {
  lines: readonly string[];
  text: string;
  steps: string;
  json: object;
  needsPerson: boolean;
  isInVain: boolean;
};
