import { calledOffIn } from '../order/other-reading.ts';
import { plainName, trimBlanks } from '../order/text.ts';

/**
 * What a column or key beside the fields can say about its record. `status`: that it is called off, in words; `flag`:
 * the same by any value but no.
 */
type Kind = 'status' | 'flag';

const STATUS = /status$|^(?:order|document|line|item)?state$|^action$|zustand$|^(?:estado|stato|statut)$/;
const FLAG =
  /^(?:is)?(?:cancell?ed|deleted|storniert|gelöscht)(?:at|on|date|am)?$|^(?:loekz|löschkennzeichen|deletionindicator|stornokennzeichen)$/;
/** What stands for no. */
const NO =
  /^(?:|[0.,]+|-|no|n|nein|non|false|falsch|faux|null|none|nil|0000-00-00(?: 00:00:00)?|00\.00\.0000|00000000)$/i;
/** Words of a program to its reader. */
const ORDERS = /^(?:delete|cancel|remove|void)$/i;

const known = new Map<string, Kind | undefined>();
const MOST_KNOWN = 1_000;

function kindOf(name: string): Kind | undefined {
  if (known.has(name)) return known.get(name);
  const plain = plainName(name).replace(/[-_.]/g, '');
  const kind = FLAG.test(plain) ? 'flag' : STATUS.test(plain) ? 'status' : undefined;
  if (known.size < MOST_KNOWN && name.length < 100) known.set(name, kind);
  return kind;
}

/** The columns that can say so, without those that are read. */
export function calledOffColumns(header: readonly string[], at: object): number[] {
  const read = new Set<unknown>(Object.values(at));
  return header.flatMap((name, index) => (!read.has(index) && kindOf(name) !== undefined ? [index] : []));
}

/** Whether a value under a name says that its record is called off: `Status: Cancelled`, `deleted: true`. */
export function saysCalledOff(name: string, value: unknown): boolean {
  const kind = kindOf(name);
  if (kind === undefined) return false;
  if (typeof value === 'boolean') return value && kind === 'flag';
  const text = typeof value === 'string' || typeof value === 'number' ? trimBlanks(String(value)) : '';
  if (kind === 'flag') return !NO.test(text);
  return text.search(/\S/) === 0 && (ORDERS.test(text) || text.startsWith(calledOffIn(text) ?? '\0'));
}
