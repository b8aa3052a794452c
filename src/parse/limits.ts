const MIB = 1024 * 1024;

/** Limits of a file, far above every real order file; one that exceeds them is unreadable. */
export const LIMITS = {
  /** Bytes of one row, line or object. */
  record: MIB,
  cells: 10_000,
  /** Rows and objects that are passed on together. */
  page: 1_000,
  /** Elements, objects and lists within each other. */
  depth: 64,
  /** Bytes of a JSON document, which is in memory as a complete. */
  document: 64 * MIB,
  /** Bytes of a gzip file once inflated. */
  inflated: 8 * 1024 * MIB,
  /** Bytes of a workbook, and of its parts once inflated. */
  workbook: 32 * MIB,
  workbookInflated: 512 * MIB,
  /** Heap of the process that reads a workbook, and characters of the texts that its cells share. */
  workbookHeap: 128 * MIB,
  sharedText: 32 * MIB,
  /** Bytes at the beginning that show the format and the header. */
  head: MIB,
  /** Names that are kept, of keys beside the list for instance. */
  names: 100,
} as const;
