import { CALLED_OFF } from '../order/other-reading.ts';
import { plainText, trimBlanks } from '../order/text.ts';

/** Why an order is not wanted: it is over without having been needed, it may be released later, or it is done already. */
export type WhyNotWanted = 'ended' | 'notYet' | 'done';

/** Names of a status column, without case, spaces and separators. docs/files.md lists them. */
export const STATUS_NAME =
  /status(?:code|value|label)?$|^(?:order|document|line|item)?state$|zustand$|^(?:status|statut|[ée]tat|estado|stato)(?:of(?:the)?|der|des|del?(?:la|l['’])?|du|d['’])?(?:(?:purchase)?order|commande|pedido|ordine|bestell(?:ung|ing)|auftrags?|ligne|l[íi]nea|riga|position|text|name|description|bezeichnung)?$/;

/** Values of a status column, in six languages. docs/files.md lists them. */
export const STATUS_WORDS: Readonly<Record<WhyNotWanted, readonly string[]>> = {
  ended: [
    'refunded, rejected, declined, denied, expired, failed, trash, superseded, obsolete, replaced, returned, inactive, withdrawn, revoked, discarded, aborted, abandoned, cancel requested, cancellation requested, cancellation pending, pending cancellation, pending cancelation, to be cancelled, to be canceled',
    'abgelehnt, abgelaufen, ersetzt, retourniert, inaktiv, zurückgewiesen, zurückgezogen, widerrufen, verworfen, abgebrochen, erstattet, hinfällig, ungültig',
    'rejeté, refusé, expiré, remplacé, remboursé, retourné, retiré, abandonné, inactif, obsolète',
    'rechazado, vencido, caducado, expirado, reemplazado, sustituido, reembolsado, devuelto, retirado, descartado, inactivo, obsoleto',
    'rifiutato, respinto, scaduto, sostituito, rimborsato, ritirato, scartato, inattivo',
    'afgewezen, geweigerd, verlopen, vervallen, vervangen, terugbetaald, geretourneerd, ingetrokken, verwijderd, inactief',
  ],
  notYet: [
    'draft, draft order, on hold, hold, blocked, suspended, parked, not approved, unapproved, not released, unreleased, not yet approved, not yet released, pending approval, pending release, pending review, awaiting approval, awaiting release, awaiting review, waiting for approval, waiting for release, to be approved, to be released, needs approval, requires approval, approval required, approval pending, in approval, in review, under review, submitted for approval, proposal, proposed, quote, quotation, requisition, template',
    'Entwurf, gesperrt, zurückgestellt, geparkt, pausiert, nicht freigegeben, nicht genehmigt, noch nicht freigegeben, noch nicht genehmigt, wartet auf Freigabe, wartet auf Genehmigung, warten auf Freigabe, warten auf Genehmigung, Freigabe ausstehend, Genehmigung ausstehend, zur Freigabe, zur Genehmigung, zur Prüfung, in Freigabe, in Genehmigung, in Prüfung, in Klärung, wird geprüft, Vorschlag, Bestellvorschlag, Bestellanforderung, Angebot, Offerte, Anfrage, Vorlage',
    "brouillon, bloqué, suspendu, non approuvé, non validé, en attente d'approbation, en attente de validation, à approuver, à valider, en cours d'approbation, en cours de validation, en révision, devis, proposition, demande d'achat, modèle",
    'borrador, bloqueado, suspendido, en espera, no aprobado, sin aprobar, por aprobar, pendiente de aprobación, pendiente de autorización, en aprobación, en revisión, presupuesto, cotización, oferta, propuesta, plantilla',
    'bozza, bloccato, sospeso, in sospeso, non approvato, da approvare, in attesa di approvazione, in approvazione, in revisione, preventivo, offerta, proposta, modello',
    'concept, geblokkeerd, opgeschort, in de wacht, niet goedgekeurd, nog niet goedgekeurd, wacht op goedkeuring, wacht op vrijgave, ter goedkeuring, in beoordeling, offerte, voorstel, sjabloon',
  ],
  done: [
    'delivered, fully delivered, shipped, fully shipped, fulfilled, goods received, fully received, completed, complete, closed, done, finished, invoiced, fully invoiced, billed, archived',
    'geliefert, ausgeliefert, vollständig geliefert, komplett geliefert, zugestellt, versendet, versandt, verschickt, Wareneingang gebucht, erledigt, abgeschlossen, geschlossen, beendet, berechnet, fakturiert, verrechnet, abgerechnet, archiviert',
    'livré, expédié, clôturé, fermé, terminé, soldé, facturé, archivé',
    'entregado, enviado, expedido, cerrado, completado, finalizado, terminado, facturado, archivado',
    'consegnato, spedito, evaso, chiuso, completato, concluso, fatturato, archiviato',
    'geleverd, afgeleverd, verzonden, voltooid, afgerond, afgesloten, gesloten, afgehandeld, gefactureerd, gearchiveerd',
  ],
};

/** Values that also count in a status of something else, such as a payment. docs/files.md lists them. */
export const OTHER_STATUS_WORDS =
  'refunded, rejected, declined, denied, expired, failed, trash, draft, on hold, hold, blocked, suspended, superseded, obsolete, replaced, returned, inactive, not approved, unapproved, not released, abgelehnt, abgelaufen, Entwurf, gesperrt, zurückgestellt, ersetzt, retourniert, inaktiv, nicht freigegeben, nicht genehmigt, brouillon, borrador, bozza';

/** Words to the program that reads the status. docs/files.md lists them. */
const DELETES = 'delete, cancel, remove, void';

/** Only its letters: `IN PRÜFUNG`, `in-Pruefung`, `InPrüfung`. */
const lettersOf = (text: string, umlaut: '' | 'e') =>
  plainText(text, umlaut).replace(/[^a-z]/g, '');

/** Also the feminine forms of Romance languages. */
function formsOf(word: string): string[] {
  const forms = [
    word,
    ...(word.endsWith('é') ? [`${word}e`] : []),
    ...(word.endsWith('o') ? [word.replace(/o$/, 'a')] : []),
  ];
  return forms.flatMap((form) => [lettersOf(form, ''), lettersOf(form, 'e')]);
}

const WHY = new Map(
  (['done', 'notYet', 'ended'] as const).flatMap((why) =>
    STATUS_WORDS[why].flatMap((words) =>
      words
        .split(', ')
        .flatMap((word) => formsOf(word).map((form): [string, WhyNotWanted] => [form, why])),
    ),
  ),
);
const ELSEWHERE = new Set(
  [OTHER_STATUS_WORDS, DELETES].flatMap((words) => words.split(', ').flatMap(formsOf)),
);
const LONGEST = 60;
/** `90 - `, `90_`, `[C] `, `ORDER_`: a code or the word for the order before the word. */
const CODE =
  /^(?:\[[A-Z]?\d{0,4}\]\s*|[A-Z]?\d{1,4}\s*[-–:.)_/|=]\s*|[A-Z]\s*[-–:)_|=]\s*|\d{2,4}\s+|(?:(?:[Pp]urchase|PURCHASE)[\s_.-]*)?(?:[Oo]rder|ORDER|PO|[Ss]tatus|STATUS)(?:[\s_.:-]+|(?=\p{Lu}\p{Ll})))(?=\p{L})/u;
/** ` (2026-11-22)`, ` am 22.11.2026`: a date after it. `brouillon` does not end in a preposition. */
const DATE =
  /(?<=\p{L})(?:[\s,:]*\(?|[\s,:(]+(?:am|on|le|el|il|op|vom)\s+)\d{1,4}[./-]\d{1,2}[./-]\d{0,4}(?:[ T]\d[\d:.]*Z?)?\)?$/u;
const WORDS = /^[\p{L}\p{M}\s_./'’-]+$/u;

/** The words of a status: without the code before and the date after them. Every list is compared with these. */
const wordsOf = (status: string) => seen(status).replace(CODE, '').replace(DATE, '');
const seen = (text: string) => text.normalize('NFC').replace(/\p{Cf}/gu, '');

/** The letters of a status that has only words. */
function statusLetters(text: string): string {
  const words = text.length > LONGEST ? '' : wordsOf(text);
  return WORDS.test(words) ? lettersOf(words, '') : '';
}

/** Why a status says that an order is not wanted; undefined for any other status. Codes alone say nothing. */
export function statusWhy(text: string): WhyNotWanted | undefined {
  return WHY.get(statusLetters(text));
}

/** Whether a status, of an order or of something else, says that the order is not wanted. */
export function isStatusAgainst(text: string, kind: 'status' | 'otherStatus'): boolean {
  const letters = statusLetters(text);
  if (ELSEWHERE.has(letters) || (kind === 'status' && WHY.has(letters))) return true;
  return isCalledOff(plainText(apart(wordsOf(text.slice(0, LONGEST))), ''), IN_STATUS);
}

/** `cancelledByCustomer` in words. */
const apart = (text: string) => text.replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ');
/** `stornierter Auftrag`, `annulees`. */
const PLAIN = CALLED_OFF.flatMap((word) => [plainText(word, ''), plainText(word, 'e')]);
const IN_STATUS = beginning(PLAIN, '(?:e[rsnm]?)?');
/** Elsewhere, accents are meant: `annule et remplace` begins a remark about an order that is wanted. */
const WRITTEN = CALLED_OFF.flatMap((word) => [word, word.replace('ö', 'oe').replace('ä', 'ae')]);
const IN_TEXT = beginning(WRITTEN, '');
/** That it can still be cancelled. */
const MAY_BE = /^storno (?:mo?e?glich|bis|nur|frei|kosten\p{L}+)(?!\p{L})/u;

function beginning(words: readonly string[], ending: string): RegExp {
  return new RegExp(`^(?:${words.join('|')})${ending}(?!\\p{L})`, 'u');
}

/** Whether a remark, an action or a mark begins with the word that its record is cancelled. */
export function beginsWithCallingOff(text: string): boolean {
  return isCalledOff(text.normalize('NFC').toLowerCase(), IN_TEXT);
}

const isCalledOff = (text: string, words: RegExp) =>
  words.test(text) && !MAY_BE.test(plainText(text, ''));

/** States of an order that is wanted, in words of other programs. */
const WANTED =
  /^(?:new|neue?r?|open|offen|created|angelegt|erfasst|active|aktiv|released|freigegeben|approved|genehmigt|confirmed|bestätigt|ordered|bestellt|nouve(?:au|lle)|nuev[oa]|nuov[oa]|nieuw)$/i;

/** The message for `wrong-state`: a state that nobody explained may mean that the order is canceled. */
export function wrongStateSentence(shown: string, value: string): string {
  const advice = WANTED.test(trimBlanks(value))
    ? 'use NEW. For your operator: if every row means NEW, leave orderState out of fields in the mapping'
    : 'if the order is canceled or not wanted, discard it; use NEW only if it is to be ordered. For your operator: if this column says which orders are canceled, name it in calledOff in the mapping instead of fields.orderState';
  return `orders cannot be created in state ${shown}; ${advice}`;
}
