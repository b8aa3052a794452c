import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { saidBeside } from '../../src/validate/said-beside.ts';
import { inShort, readText } from '../support/read-text.ts';
import { runs } from '../support/runs.ts';

/** An order without a value in the column, and one with it. */
async function heldWith(column: string, value: string): Promise<unknown[]> {
  const header = `purchaseOrderNumber;articleCode;quantity;${column}`;
  const { orders } = await readText(`${header}\nB1;A1;1;\nB2;A2;2;${value}\n`);
  return inShort(orders).slice(1);
}

/** Columns that have a value because their row is cancelled. */
const FLAGS = [
  'STORNO',
  'Storno',
  'Storno?',
  'Storno (J/N)',
  'Storniert',
  'Storniert am',
  'storniert_von',
  'Stornierung',
  'Storno-Datum',
  'Stornierungsdatum',
  'Storno-Kz.',
  'Stornokennzeichen',
  'Stornogrund',
  'Stornobeleg',
  'Positionsstorno',
  'Auftrag storniert',
  'LOEKZ',
  'Lösch-Kz',
  'Löschkennzeichen',
  'Gelöscht',
  'geloescht',
  'Annulliert',
  'Annullierung',
  'Entfällt',
  'Gestrichen',
  'Absagegrund',
  'Canceled',
  'cancelled',
  'is_cancelled',
  'cancelledAt',
  'Canceled By',
  'Order cancelled',
  'Line Cancelled?',
  'Cancellation',
  'Cancellation date',
  'Cancelation reason',
  'date of cancellation',
  'cancel flag',
  'Deleted',
  'deleted_at',
  'Deletion indicator',
  'Delete flag',
  'Voided',
  'date voided',
  'Annulé',
  'annulee',
  'Annulation',
  "Date d'annulation",
  'Supprimé',
  'Anulado',
  'Cancelada',
  'Anulación',
  'Fecha de cancelación',
  'Annullato',
  'Stornato',
  'Data annullamento',
  'Geannuleerd',
  'Annuleringsdatum',
  'Vervallen',
  'Stornomenge',
  'Qty cancelled',
];

/** Columns in which a yes says that the row is cancelled; a date may be a deadline. */
const WORDS = [
  'Cancel',
  'Void',
  'Delete',
  'Stornieren',
  'zu stornieren',
  'Annuler',
  'Anular',
  'Cancel order',
  'Stornostatus',
];

/** Columns that only speak about cancelling, or about something else. */
const OTHERS = [
  'Stornogebühr',
  'Stornokosten',
  'Stornofrist',
  'Storno bis',
  'Storno möglich',
  'stornierbar',
  'Stornobedingungen',
  'Cancellation fee',
  'Cancellation deadline',
  'cancellation policy',
  'Cancel by',
  'Cancel date',
  'cancel after',
  'Cancel allowed',
  'can be cancelled',
  'cancellable',
  'not cancelled',
  'nicht storniert',
  'Löschdatum',
  'Void after',
  'frais d’annulation',
  'Stornorabatt',
  'LKZ',
  'Cancelled orders of the supplier',
];

const YES = ['X', 'x', 'ja', 'J', '1', 'yes', 'Y', 'true', 'WAHR'];
const NO = [
  '',
  '0',
  'N',
  'n',
  'nein',
  'no',
  '-',
  '–',
  'false',
  'FALSCH',
  '0,00',
  'null',
  'keine',
  'nicht storniert',
];

describe('a column whose value is there because the row is cancelled', () => {
  test.each([
    ['STORNO', 'X'],
    ['STORNO', 'ja'],
    ['Storno', 'storniert'],
    ['Storno-Datum', '22.11.2026'],
    ['Annulliert', 'X'],
    ['Cancel', 'X'],
    ['Void', 'X'],
    ['Cancel', 'cancelled'],
    ['Cancellation date', '2026-11-22'],
    ['Stornogrund', 'doppelt bestellt'],
    ['Stornomenge', '2'],
    ['Storno', 'not needed, cancelled'],
  ])('holds the row: %s %s', async (column, value) => {
    expect(await heldWith(column, value)).toEqual([{ B2: [`3 ${column} called-off`] }]);
  });

  test('holds it with any word for yes, and with none for no', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...FLAGS, ...WORDS),
        fc.constantFrom(...YES),
        fc.constantFrom(...NO),
        (name, yes, no) => {
          expect([name, yes, saidBeside(name, yes)]).toEqual([name, yes, 'called-off']);
          expect([name, no, saidBeside(name, no)]).toEqual([name, no, undefined]);
        },
      ),
      { numRuns: runs(5000) },
    );
    expect(FLAGS.filter((name) => saidBeside(name, 'X') === undefined)).toEqual([]);
    expect(WORDS.filter((name) => saidBeside(name, 'X') === undefined)).toEqual([]);
  });

  test('holds it with true in JSON, and not with false', () => {
    expect([true, false].map((value) => saidBeside('storno', value))).toEqual([
      'called-off',
      undefined,
    ]);
    expect([true, false].map((value) => saidBeside('void', value))).toEqual([
      'called-off',
      undefined,
    ]);
  });
});

describe('a column that only speaks about cancelling', () => {
  test.each([
    ['Stornogebühr', '0,00'],
    ['Stornogebühr', '25,00'],
    ['Cancellation fee', '0.00'],
    ['Stornofrist', '22.11.2026'],
    ['cancel by', '2026-12-01'],
    ['Cancel date', '2026-12-01'],
    ['cancellation deadline', '2026-12-01'],
    ['Cancel allowed', 'yes'],
    ['Cancel', '2026-12-01'],
    ['Storno', 'möglich bis 1.12.'],
    ['Storno', 'kostenlos'],
    ['Stornierung', '14 Tage vor Lieferung'],
    ['Cancellation', 'free until 1 December'],
    ['Cancellation', '20 %'],
    ['Storno', 'nicht möglich'],
    ['Storno', 'noch nicht storniert'],
    ['Cancellation', 'no cancellation'],
  ])('does not hold the row: %s %s', async (column, value) => {
    expect(await heldWith(column, value)).toEqual([
      { purchaseOrderNumber: 'B2', orderState: 'NEW', items: [{ articleCode: 'A2', quantity: 2 }] },
    ]);
  });

  test('does not hold it with any value', () => {
    const values = [...YES, '22.11.2026', '25,00', 'storniert'];
    expect(
      OTHERS.flatMap((name) =>
        values.filter((value) => saidBeside(name, value)).map((value) => [name, value]),
      ),
    ).toEqual([]);
  });
});
