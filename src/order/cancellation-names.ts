import { plainName } from './text.ts';

/**
 * What the name of a column or key says about cancelling its record. `flag`: the value is there because the record is
 * cancelled, whatever it is: a mark, a word, a date, a reason. `word`: only a yes or a word says so. Undefined for names
 * that speak of cancelling in another way: fees, deadlines, whether it is possible.
 */
export type CancellationKind = 'flag' | 'word';

/** Only letters and digits, without accents: `Storno-Datum`, `Annulé ?`, `is_cancelled`. */
function lettersOf(name: string): string {
  return plainName(name)
    .normalize('NFD')
    .replace(/[^\p{L}\p{N}]/gu, '');
}

const RECORD =
  '(?:is|was|are|ist|wurde|est|es|e)?(?:(?:purchase)?order|po|(?:purchasing)?document|(?:line)?item|line|row|record|pos|positions?|bestell(?:ungs?|pos(?:ition)?)?|auftrags?|belegs?|zeilen?|commande|ligne|pedido|linea|ordine|riga|bestelling|regel)?(?:is|was|ist|wurde)?';

/** Cancelled, deleted, withdrawn. */
const ENDED =
  '(?:cancell?ed|deleted|voided|removed|withdrawn|revoked|annulled|rescinded|calledoff|storniert(?:e[rsnm]?)?|gel(?:o|oe)scht|annull?iert|gestrichen|entfallen|entf(?:a|ae)llt|abgesagt|widerrufen|annulee?s?|supprimee?s?|(?:anul|cancel|elimin|borr)ad[oa]s?|(?:annull|cancell|elimin|storn)at[oaei]|geannuleerd|gecanceld|verwijderd|vervallen)';
const ENDED_TAIL =
  '(?:at|on|am|le|el|il|op|by|von|durch|par|por|da|door|since|seit|date|datum|time|timestamp|flag|mark|marker|indicator|kennzeichen|kz|reason|grund|jn|yn|janein|yesno)?';

const NOUN =
  '(?:storno|stornierungs?|cancell?ation|annull?ierungs?|annull?ation|annull?amento|anulacion|cancelacion|cancellazione|annulerings?|cancelamento)';
const NOUN_TAIL =
  '(?:date|datum|tag|zeitpunkt|timestamp|flag|mark|marker|markierung|indicator|kennzeichen|kz|vermerk|reason(?:code)?|reden|grund|beleg(?:nummer|nr)?|nummer|number|nr|no|jn|yn|janein|yesno)?';
const OF =
  '(?:date|datum|fecha|data|reason|grund|motif|motivo)(?:of|for|der|die|fur|de|d|di|della|del|la)?';

const DELETION =
  '(?:loekz|(?:l(?:o|oe)sch(?:ungs)?|deletion|delete|cancel|void)(?:kennzeichen|kz|flag|mark|marker|markierung|vermerk|vormerkung|indicator|reason(?:code)?)|deletion(?:code)?|l(?:o|oe)schung|absagegrund|ablehnungsgrund|abgru|rejectionreason|reasonforrejection)';

const QUANTITY = '(?:quantity|qty|menge|anzahl|st(?:u|ue)ckzahl|quantite|cantidad|quantita|aantal)';
const TAKEN =
  '(?:cancell?ed|cancell?ation|cancel|deleted|rejected|storno|storniert[er]*|stornierungs|annull?iert[er]*|gel(?:o|oe)scht[er]*)';

const FLAG = new RegExp(
  `^(?:${RECORD}${ENDED}${ENDED_TAIL}|${RECORD}${NOUN}${NOUN_TAIL}|${OF}(?:${NOUN}|${ENDED})|${RECORD}${DELETION}|${TAKEN}${QUANTITY}|${QUANTITY}${TAKEN}|(?:superseded|replaced)by|ersetztdurch)$`,
);

/** What is to be done, and states of a cancellation. `Cancel` with a date may be a deadline. */
const WORD =
  /^(?:(?:please|bitte|to|tobe|zu)?(?:order|po|line|item|row|pos|position|bestellung|zeile)?(?:cancel|void|delete|remove|stornieren|l(?:o|oe)schen|annull?ieren|streichen|annuler|supprimer|anular|cancelar|eliminar|annullare|cancellare|eliminare|annuleren|verwijderen)(?:order|po|line|item|row|pos|position)?(?:jn|yn|janein|yesno)?|(?:storno|stornierungs|cancell?ation|cancel|deletion|l(?:o|oe)sch)status)$/;

/** What the name of a column says about cancelling; undefined for any other name. */
export function cancellationKind(name: string): CancellationKind | undefined {
  const letters = lettersOf(name);
  if (FLAG.test(letters)) return 'flag';
  return WORD.test(letters) ? 'word' : undefined;
}

/** Values that mean no. */
export const NO =
  /^(?:|[0.,]+|-+|no|n|nein|non|nee|nie|nej|não|false|f|falsch|faux|off|never|null|\\n|none|nil|n\/a|(?:0000|0001|9999)-\d\d-\d\d(?:[ T].*)?|00\.00\.0000|31\.12\.9999|00000000|99991231)$/i;
/** `keine`, `nicht storniert`, an empty box. */
const NOT_CANCELLED =
  /^(?:[–—☐-]+|nicht|kein[er]?|aucune?|ningun[oa]|nessun[oa]|geen|(?:noch )?(?:nicht|kein[er]?|not?|never|non|niet|geen|pas|nie)(?: yet| been)? (?:storn|cancel|annul|anul|delet|void|gelöscht)\p{L}*)$/iu;
/** Whether and until when it can be cancelled, and what that costs. */
const CONDITION =
  /^(?:(?:storno|stornierung|cancell?ation)? ?(?:kostenlos|kostenfrei|kostenpflichtig|möglich|frei|free|possible|allowed|erlaubt|ausgeschlossen|jederzeit|any ?time|auf anfrage|on request|nur|only|bis|until|before|up to|within|innerhalb)|(?:nicht|not) (?:möglich|possible|allowed|erlaubt)|[€$£]|https?:|\d[\d.,]* ?(?:%|€|\$|£|eur|usd|chf|gbp|h|std|hours?|days?|tagen?|tage|wochen?|weeks?))(?!\p{L})/iu;

/** Whether a value under the name of a flag says that the record is not cancelled, or only speaks about cancelling. */
export function isNoCancellation(text: string): boolean {
  return NO.test(text) || NOT_CANCELLED.test(text) || CONDITION.test(text);
}
