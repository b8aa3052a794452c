import { NEW_LEDGER, ROLLED_BACK } from './identity.ts';

/** One order of a new ledger was sent: the API's list must show it before the others follow. */
export const LIST_UNPROVED = 'list-unproved';
/** The list does not show what it must show. */
export const LIST_INCOMPLETE = 'list-incomplete';
/** Its pages change while they are read. */
export const LIST_UNSTABLE = 'list-unstable';
/** On the first start of a protected environment a person says how many orders it must show. */
export const LIST_UNCONFIRMED = 'list-unconfirmed';
/** The API answers that there is no list. */
export const LIST_NOT_OFFERED = 'list-not-offered';

const NEED_PERSON = new Set([LIST_INCOMPLETE, LIST_UNCONFIRMED, LIST_NOT_OFFERED]);
const WAIT = new Set([NEW_LEDGER, ROLLED_BACK, LIST_UNPROVED, LIST_UNSTABLE, ...NEED_PERSON]);

/** Whether a pause with this code ends when the API's list has been read, and shows what it must. */
export function waitsForList(code: string): boolean {
  return WAIT.has(code);
}

/** Whether such a pause seldom ends before a person acts: a run that is to end does not wait for it. */
export function listNeedsPerson(code: string): boolean {
  return NEED_PERSON.has(code);
}

/** What ends a pause that waits for the list, as a clause. */
export function listPauseEnd(code: string): string {
  switch (code) {
    case LIST_UNPROVED:
      return "ends when the API's list shows the order that was sent";
    case LIST_NOT_OFFERED:
      return 'ends when the API offers its list; without one set list: none; after a loss run po-sync reconcile --repair then';
    case LIST_INCOMPLETE:
    case LIST_UNCONFIRMED:
      return "ends when the API's list shows what it must; po-sync reconcile --expect N says how many orders there are";
    default:
      return "ends when the API's list has been read";
  }
}
