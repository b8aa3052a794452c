const KIB = 1024;
const MIB = 1024 * KIB;

/** What a file may hold at most. Beyond it is refused with its place: no real order file comes near. */
export const LIMITS = {
  /** Bytes of one row or one JSON object. */
  recordBytes: MIB,
  /** Lines of one order. */
  items: 10_000,
  /** Bytes of all rows of one order, each row with `rowOverhead` for what holding it costs. */
  orderBytes: 24 * MIB,
  rowOverhead: 512,
  columns: 1_000,
  /** Objects and arrays within each other. */
  jsonDepth: 64,
  records: 10_000_000,
  /** Order numbers that rows of the wrong width leave in doubt. */
  shiftedNumbers: 100_000,
  /** Bytes of a gzip file once inflated. */
  inflatedBytes: 8 * KIB * MIB,
  /** Bytes of an Excel workbook as dropped, and of its parts once inflated: it cannot be read as a stream. */
  workbookBytes: 8 * MIB,
  workbookInflatedBytes: 12 * MIB,
  /** Heap of the thread that reads a workbook, in bytes. */
  workbookHeap: 128 * MIB,
  /** Bytes of an export that is fetched from an address. */
  downloadBytes: 2 * KIB * MIB,
  /** Characters (code points) of an order number or an article code. */
  textLength: 256,
  /** Characters of a value that is shown with its problem. */
  shownValue: 200,
} as const;
