import type { Mapping } from '../config/config.ts';
import { cancellationKind, isNoCancellation, NO } from '../order/cancellation-names.ts';
import { CONFIRMED } from '../order/fixing.ts';
import type { Problem } from '../order/record.ts';
import { plainName, shorten, trimBlanks } from '../order/text.ts';
import { calledOffRules, ruleFor } from '../parse/skip-where.ts';
import {
  beginsWithCallingOff,
  isStatusAgainst,
  STATUS_NAME,
  statusWhy,
  type WhyNotWanted,
} from './called-off-rules.ts';

/**
 * What a column or key beside the fields can say about its record. `status`, `otherStatus`, `type` and `remark`: in words; `action`: in
 * the codes of a program; `flag`: by any value but no; `word`: by yes or in words; `mark`: by yes; `release`: by no; `unit`:
 * that the quantity counts more than pieces; `change`: another quantity; `other`: another number or article; `open`: that
 * nothing is open; `sign`: that the quantity is below zero; `list`: further items.
 */
type Kind =
  | 'status'
  | 'otherStatus'
  | 'type'
  | 'remark'
  | 'action'
  | 'flag'
  | 'word'
  | 'mark'
  | 'release'
  | 'open'
  | 'sign'
  | 'unit'
  | 'change'
  | 'other'
  | 'list';

/** The codes of what is said. */
export type Said = 'called-off' | 'other-value' | 'nested';

/** Names without case, spaces and separators. */
const KINDS: readonly [Kind, RegExp][] = [
  [
    'action',
    /^(?:action(?:code)?|aktion|operation|op|change(?:type|indicator)|änderungskennzeichen)$/,
  ],
  // The payment, the article or a transfer may be finished while the order is open: only plain words count there.
  [
    'otherStatus',
    /^(?:pay|zahl|bezahl|finan|paiement|pago|pagamento|betaal|invoic|rechnung|faktur|bill|factur|fattur|credit|kredit|bonit|customer|kunde|client|cliente|klant|supplier|vendor|lieferant|fournisseur|proveedor|fornitore|leverancier|artic|artikel|artículo|product|produkt|material|sku|stock|lager|bestand|inventory|price|preis|user|account|konto|tax|steuer|contract|vertrag|project|projekt|sync|import|export|edi|transfer|übertrag|print|druck|e?mail|api|job|task|system).*(?:status|state|zustand)(?:code|value|label)?$/,
  ],
  ['status', STATUS_NAME],
  [
    'type',
    /type?$|^event(?:name)?$|^(?:beleg|auftrags|bestell|dokument|vorgangs|positions)?art$|^kind$/,
  ],
  [
    'remark',
    /^(?:order|line|item|customer|internal)?(?:remarks?|notes?|comments?)$|^(?:bemerkung(?:en)?|hinweise?|kommentare?|anmerkung(?:en)?|notiz(?:en)?|positionstext|remarques?|commentaires?|observaciones|uwagi)$/,
  ],
  [
    'mark',
    /^(?:is)?(?:draft|test|testorder|onhold|hold|blocked|gesperrt|superseded|obsolete|inactive|inaktiv|ungültig|hinfällig|archived|donotorder|nichtbestellen|optional|alreadyordered|bereitsbestellt|erledigt|done|returns?(?:item|order|position)|isreturn)\??$/,
  ],
  [
    'release',
    /^(?:is)?(?:active|aktiv|enabled|approved|approval|genehmigt|released|freigegeben|freigabe|toorder|selected|included?|order\?|(?:zu)?bestellen\??)$/,
  ],
  [
    'unit',
    /^(?:purchase)?(?:order)?(?:quantity|qty)?(?:units?|uom|unitofmeasure)(?:code|symbol)?$|^(?:factor|faktor|multiplier|(?:mengen|bestell)?einheit|meins|menee|bstme|me|unité|unidad)$/,
  ],
  [
    'change',
    /^(?:new|neue|corrected|korrigierte|revised|changed|geänderte|updated)(?:order)?(?:quantity|qty|menge|anzahl|bestellmenge)$/,
  ],
  ['open', /^(?:open|remaining|outstanding|offene|rest)(?:quantity|qty|menge)$/],
  ['sign', /^(?:sign|vorzeichen)$/],
  [
    'other',
    /^(?:replacement|substitute|new|ersatz|neuer?)(?:article|item|sku|material|artikel|product|part)(?:code|number|no|nr|nummer)?$|^(?:new|neue)(?:po|purchaseorder|order|bestell)(?:number|no|nr|nummer)$/,
  ],
  ['list', /^(?:line)?items$|^(?:order)?lines$|^positions$/],
];

/** Values that mean no in a release. */
const NOT_RELEASED =
  /^(?:0|no|n|nein|non|false|falsch|faux|rejected|denied|declined|pending|abgelehnt|ausstehend)$/i;
const YES = /^(?:1|x|y|yes|j|ja|o|oui|true|wahr|vrai|✓|✔|☑)$/i;
/** Words and codes of a program to its reader. */
const DELETES = /^(?:delete|cancel|remove|void)$/i;
const DELETES_BY_CODE = /^(?:d|del|x)$/i;
const NO_ORDER =
  /^(?:(?:purchase[ _-]?)?returns?(?:[ _-]?order)?|refund|retoure?|r(?:ü|ue)cksendung|r(?:ü|ue)ckgabe|gutschrift|credit[ _-]?(?:note|memo)|avoir|chargeback|(?:order[ _-]?)?cancellation|storno|stornierung|quote|quotation|angebot|offerte|pro[ _-]?forma|rfq|request[ _-]for[ _-]quot(?:e|ation)|inquiry|anfrage)$/i;
/** Events: `order.deleted`, `OrderCancelled`. */
const ENDED =
  /(?:^|[._: -]|[a-z](?=[A-Z]))(?:[Cc]ancell?ed|[Dd]eleted|[Vv]oided|[Rr]ejected|[Rr]efunded|[Rr]eturned|CANCELL?ED|DELETED|VOIDED)$/;
const REFUSES =
  /^(?:(?:please |bitte |pls )?(?:(?:do not|don'?t) (?:order|send|ship|deliver)|nicht (?:mehr )?(?:bestellen|senden|liefern))(?=\s*(?:$|[.!,;(])| (?:this|it|any ?more|yet|again|diese)(?!\p{L}))|(?:please|bitte|pls) (?:cancel|stornieren)(?!\p{L})|ne pas commander|replaced by|superseded by|ersetzt durch|remplacé par)/iu;
/** Dozens, hundreds and packs: `DZ`, `GRO`, `100 ST`, `10er Pack`, `pack of 6`. */
const MULTIPLE =
  /^(?:dz|dzn|doz|dozens?|dutzend|dtzd|douzaines?|docenas?|gross|gros|gro|grs|cen|hundreds?|hundert|mil|thousands?|tausend|tsd)\.?$/i;
const PACK =
  /^(?:x ?)?(?:[2-9]|[1-9]\d{1,4})(?:$| ?(?:er|x|st|stk|pcs?|pce|pieces?|stück|units?)\b)|^(?:pack|box|case|carton|karton|packung|set)s? (?:of|à|a|zu|mit) \d/i;

const known = new Map<string, Kind | undefined>();
const MOST_KNOWN = 1_000;

const plainOf = (name: string) => plainName(name).replace(/[-_.]/g, '');

/** What a column or key with this name can say; undefined for any other. */
export function kindOf(name: string): Kind | undefined {
  if (known.has(name)) return known.get(name);
  const plain = plainOf(name);
  const kind = cancellationKind(name) ?? KINDS.find(([, pattern]) => pattern.test(plain))?.[0];
  if (known.size < MOST_KNOWN && name.length < 100) known.set(name, kind);
  return kind;
}

/** Whether a column or key has this name because it has a status, of the order or of something else. */
export const isStatusName = (name: string): boolean =>
  /^(?:s|otherS)tatus$/.test(kindOf(name) ?? '');

/** What a row says in the columns beside its fields; undefined if that is nothing against it. `others`: columns that say something, too. */
export type SaidInRow = (cells: readonly string[], quantity: string) => SaidInCell | undefined;
type SaidInCell = { code: Said; column: number; others: number[] };

/** Looks at the columns of a table that can say something, without those that are read, and at those of `calledOff`. */
export function watchSaid(header: readonly string[], at: object, mapping: Mapping): SaidInRow {
  const read = new Set<unknown>(Object.values(at));
  const columns = header.flatMap((name, column) => {
    const kind = mapping.otherReadings === 'allow' || read.has(column) ? undefined : kindOf(name);
    const rule = ruleFor(name, calledOffRules(mapping));
    if (kind === undefined && rule === undefined) return [];
    const say = (text: string, quantity: string): Said | undefined => {
      if (rule !== undefined && text !== '' && rule.holds(text)) return 'called-off';
      const said = kind && saidAs(kind, text, quantity);
      return rule !== undefined && said === 'called-off' ? undefined : said;
    };
    return [{ column, kind, last: '', say, said: say('', '') }];
  });

  return (cells, quantity) => {
    let found: SaidInCell | undefined;
    for (const one of columns) {
      const cell = cells[one.column] ?? '';
      // Most rows say the same as the one above.
      if (cell !== one.last || one.kind === 'change') {
        one.last = cell;
        one.said = one.say(trimBlanks(cell), quantity);
      }
      // A program may repeat the value that is sent.
      if (
        one.said === 'other-value' &&
        one.kind === 'other' &&
        cells.indexOf(cell) !== cells.lastIndexOf(cell)
      )
        continue;
      if (one.said === undefined) continue;
      if (found === undefined) found = { code: one.said, column: one.column, others: [] };
      else found.others.push(one.column);
    }
    return found;
  };
}

/** What a value under a name says: `Status: Cancelled`, `deleted: true`, `unit: dozen`. A list is looked into elsewhere. */
export function saidBeside(name: string, value: unknown, quantity = ''): Said | undefined {
  const kind = kindOf(name);
  if (kind === undefined || kind === 'list') return undefined;
  if (typeof value === 'boolean') return saysNo(kind, value) ? 'called-off' : undefined;
  const text =
    typeof value === 'string' || typeof value === 'number' ? trimBlanks(String(value)) : '';
  return saidAs(kind, text, quantity);
}

const NOT_YET_MARK = /^(?:is)?(?:draft|onhold|hold|blocked|gesperrt)\??$/;
const DONE_MARK = /^(?:is)?(?:archived|alreadyordered|bereitsbestellt|erledigt|done)\??$/;
const FINAL = /^(?:rejected|denied|declined|abgelehnt)$/i;

/** Why `called-off` was said: an order that is not wanted yet may be released, one that is done was wanted. */
function whyNotWanted(name: string, value: string): WhyNotWanted {
  const text = trimBlanks(value);
  const why = statusWhy(text);
  const kind = kindOf(name) ?? name.split('.').map(kindOf).find(Boolean);
  if (why === 'notYet' || kind === 'status') return why ?? 'ended';
  if (kind === 'release') return FINAL.test(text) ? 'ended' : 'notYet';
  if (kind === 'open') return 'done';
  if (kind !== 'mark') return 'ended';
  const plain = plainOf(name);
  return NOT_YET_MARK.test(plain) ? 'notYet' : DONE_MARK.test(plain) ? 'done' : 'ended';
}

/** Whether only this says something against an order: that it is done, not in a column of `calledOff`. */
export function isOnlyDone(problems: readonly Problem[], mapping: Mapping): boolean {
  const rules = calledOffRules(mapping);
  const isDone = ({ code, field, value }: Problem) =>
    code === 'called-off' &&
    ruleFor(field, rules) === undefined &&
    whyNotWanted(field, value) === 'done';
  return problems.length > 0 && problems.every(isDone);
}

/** The message for `called-off`: a draft may be released later, a cancellation is final, what is done was ordered before. */
export function calledOffSentence(field: string, value: string): string {
  const shown = JSON.stringify(shorten(value, 60));
  switch (whyNotWanted(field, value)) {
    case 'notYet':
      return `${shown} says that this is not wanted yet; discard it or leave it until a later file shows it as released, which sends it, or write ${CONFIRMED} into _error_check of the fix file to order it now`;
    case 'done':
      return `${shown} says that this is done already; discard the order. To order it nevertheless, write ${CONFIRMED} into _error_check of the fix file`;
    case 'ended':
      return `${shown} says that this is no longer wanted; discard the order. If only this row or item is not wanted, remove it and, in each other row of the order, write ${CONFIRMED} into _error_check. To order it nevertheless, write ${CONFIRMED} into _error_check of the fix file`;
  }
}

const saysNo = (kind: Kind, value: boolean) =>
  value ? kind === 'flag' || kind === 'word' || kind === 'mark' : kind === 'release';

function saidAs(kind: Kind, text: string, quantity: string): Said | undefined {
  if (text === '') return undefined;
  switch (kind) {
    case 'unit':
      return MULTIPLE.test(text) || PACK.test(text) ? 'other-value' : undefined;
    case 'change':
      return /^\d[\d.,]*$/.test(text) && text !== quantity && Number(text) !== Number(quantity)
        ? 'other-value'
        : undefined;
    case 'other':
      return NO.test(text) || YES.test(text) ? undefined : 'other-value';
    case 'list':
      return /^[[{]/.test(text) ? 'nested' : undefined;
    default:
      return callsOff(kind, text) ? 'called-off' : undefined;
  }
}

function callsOff(
  kind: Exclude<Kind, 'unit' | 'change' | 'other' | 'list'>,
  text: string,
): boolean {
  switch (kind) {
    case 'flag':
      return !isNoCancellation(text);
    case 'word':
      return YES.test(text) || DELETES.test(text) || beginsWithCallingOff(text);
    case 'mark':
      return YES.test(text);
    case 'release':
      return NOT_RELEASED.test(text);
    case 'action':
      return DELETES_BY_CODE.test(text) || DELETES.test(text) || beginsWithCallingOff(text);
    case 'open':
      return /^0[0.,]*$/.test(text);
    case 'sign':
      return /^[-−–]$/.test(text);
    case 'type':
      return NO_ORDER.test(text.normalize('NFC')) || ENDED.test(text) || DELETES.test(text);
    case 'remark':
      return REFUSES.test(text.normalize('NFC')) || beginsWithCallingOff(text);
    case 'status':
    case 'otherStatus':
      return isStatusAgainst(text, kind);
  }
}
