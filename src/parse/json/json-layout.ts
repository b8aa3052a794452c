/** Where a JSON file contains its orders. */
export type JsonLayout =
  /** One array of orders. */
  | { kind: 'array' }
  /** The file is one order. */
  | { kind: 'object' }
  /** An object holding one array of orders. */
  | { kind: 'wrapped'; key: string }
  /** One order after another (NDJSON). */
  | { kind: 'sequence' };

/** What a value is, by its position: an order, a container around orders, or a value next to them. */
export type Role = 'record' | 'around' | 'beside';

/** The position of a value: the containers around it, and the key that leads to it within the outermost object. */
export type Position = { depth: number; isInArray: boolean; rootKey: string; opens: '{' | '[' | undefined };

/** Decides what a value outside of any record is. `unknown`: the first pass, which finds the layout out. */
export function roleOf({ depth, isInArray, rootKey, opens }: Position, layout: JsonLayout | 'unknown'): Role {
  if (layout === 'unknown') {
    if (depth === 0) return opens === undefined ? 'record' : 'around';
    if (depth === 1 && !isInArray) return opens === '[' ? 'around' : 'beside';
    return 'record';
  }
  switch (layout.kind) {
    case 'object':
    case 'sequence':
      return 'record';
    case 'array':
      return depth === 0 ? 'around' : 'record';
    case 'wrapped':
      if (depth === 0) return 'around';
      if (depth === 1) return opens === '[' && rootKey === layout.key ? 'around' : 'beside';
      return 'record';
  }
}
