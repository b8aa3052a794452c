import type { Finding } from '../problem.ts';
import type { MappingParts } from '../readable.ts';
import { type Rule, repeated } from './ruling.ts';

/** A column feeds one field: an article code must not end as an order number by a slip of the hand. */
export const mappingRule: Rule = (parts) => {
  return { problems: parts.mappings.flatMap(([name, mapping]) => sharedColumns(name, mapping)), warnings: [] };
};

function sharedColumns(name: string, { fields }: MappingParts): Finding[] {
  const uses = Object.entries(fields ?? {}).flatMap(([field, columns]) => columns.map((column) => ({ field, column })));
  return repeated(uses, ({ column }) => column.trim().toLowerCase()).map(([{ field, column }, first]) => ({
    path: ['mappings', name, 'fields', field],
    message:
      field === first.field
        ? `names the column ${JSON.stringify(column)} twice`
        : `takes the column ${JSON.stringify(column)}, which ${first.field} takes already`,
  }));
}
