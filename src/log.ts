import type { Logger } from 'pino';

/** The program's log; written to only by the functions of `events/`. */
export type Log = Logger;
