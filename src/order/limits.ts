const KIB = 1024;
const MIB = 1024 * KIB;

/** Limits of a file, far above every real order file. A file beyond one is refused with the place. */
export const LIMITS = {
  /** Bytes of one row or one JSON object. */
  recordBytes: MIB,
  /** Lines of one order. */
  items: 10_000,
  /** Bytes of all rows of one order, plus `rowOverhead` for each row in memory. */
  orderBytes: 24 * MIB,
  rowOverhead: 512,
  columns: 1_000,
  /** Nesting of objects and arrays. */
  jsonDepth: 64,
  records: 10_000_000,
  /** Bytes of a gzip file once inflated. */
  inflatedBytes: 8 * KIB * MIB,
  /** Bytes of an Excel workbook as dropped, and of its parts once inflated. */
  workbookBytes: 32 * MIB,
  workbookInflatedBytes: 512 * MIB,
  /** Heap of the process that reads a workbook, in bytes. */
  workbookHeap: 128 * MIB,
  /** Bytes of an export that is fetched from an address. */
  downloadBytes: 2 * KIB * MIB,
  /** Bytes of an unreadable file for whose report its SHA-256 is computed. */
  hashedBytes: KIB * MIB,
  /** Characters (code points) of an order number or an article code. */
  textLength: 256,
  /** Characters of a value in a problem. */
  shownValue: 200,
} as const;
