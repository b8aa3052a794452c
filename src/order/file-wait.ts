/** A column that nobody declared, with its most common values. `more`: rows with other values than those. */
export type Undeclared = {
  name: string;
  values: readonly { value: string; rows: number }[];
  rows: number;
  more?: number;
};

/** What a file itself gives a reason to wait for. */
export type ContentWait =
  /** Rule 1: columns are missing or undeclared. */
  | { code: 'layout'; facts: { missing: readonly string[]; undeclared: readonly Undeclared[] } }
  /** Rule 2: damaged rows in a file with orders whose rows are apart. The first of each. */
  | {
      code: 'shape';
      facts: {
        damaged: number;
        damagedLines: readonly number[];
        apart: number;
        apartOrders: readonly { number: string; lines: readonly [number, number] }[];
      };
    }
  /** Rule 7. */
  | { code: 'volume'; facts: { orders: number; maxOrders: number } }
  /** Of several mappings none or more than one fits. */
  | { code: 'mapping'; facts: { mappings: readonly string[]; fitting: readonly string[] } }
  /** A workbook with hidden values, or with several sheets of which none is named. */
  | {
      code: 'workbook';
      facts: { hiddenRows: number; hiddenColumns: readonly string[]; sheets: readonly string[] };
    };

/** Why a file waits for a person, who releases or cancels it: a code with its facts. `again`: a person released it before. */
export type FileWait = (
  | ContentWait
  /** The ledger lost what it knew of the file, which was in progress since `claimedAt`: some of it may have been sent. */
  | { code: 'ledger'; facts: { claimedAt: string } }
  /** Its last answers were the same refusal. */
  | { code: 'refusals'; facts: { refused: number; of: number; says: string } }
) & { again?: { at: number; who: string } };

/** A file that waits, and since when, in milliseconds. */
export type Waits = FileWait & { since: number };
