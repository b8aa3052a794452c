import { keysOf, type Mapping, plainName, type Role } from '../config/mapping-schema.ts';

/** The names of the column that is a field of the API; without a mapping, the API's own. */
export function namesOf(role: Role, mapping: Mapping | undefined): readonly [string, ...string[]] {
  const found = Object.entries(mapping?.columns ?? {}).find(([, keys]) => keysOf(keys).is === role);
  if (found === undefined) return [role];
  const [name, keys] = found;
  return [name, ...(keysOf(keys).also ?? [])];
}

/** The position in a header of the column that is a field of the API. */
export function columnAt(
  role: Role,
  header: readonly string[],
  mapping: Mapping | undefined,
): number | undefined {
  const names = new Set(namesOf(role, mapping).map(plainName));
  const at = header.findIndex((name) => names.has(plainName(name)));
  return at < 0 ? undefined : at;
}
