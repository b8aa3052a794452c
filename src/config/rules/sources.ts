import { nearest } from '../nearest.ts';
import type { Finding } from '../problem.ts';
import type { Readable } from '../readable.ts';
import { type Rule, repeated } from './ruling.ts';

/** Sources have names of their own and mappings that exist. */
export const sourceRule: Rule = (parts) => {
  return { problems: [...sharedNames(parts), ...unknownMappings(parts)], warnings: unusedMappings(parts) };
};

/** Names stand in file names, where some file systems do not tell upper from lower case, and in names of variables. */
function sharedNames({ sources }: Readable): Finding[] {
  const given = sources.flatMap(([index, { name }]) => (name === undefined ? [] : [{ index, name }]));
  return repeated(given, ({ name }) => name.toLowerCase().replaceAll('-', '_')).map(([{ index, name }, first]) => ({
    path: ['sources', index, 'name'],
    message: `${name} is the name of sources[${first.index}] already`,
  }));
}

function unknownMappings({ sources, mappings }: Readable): Finding[] {
  const names = mappings.map(([name]) => name);
  return sources.flatMap(([index, { mapping }]): Finding[] => {
    if (mapping === undefined || names.includes(mapping)) return [];
    const near = nearest(mapping, names);
    const known = names.length === 0 ? 'there are no mappings' : `known: ${names.join(', ')}`;
    const hint = near === undefined ? known : `did you mean ${near}?`;
    return [{ path: ['sources', index, 'mapping'], message: `there is no mapping ${mapping}`, hint }];
  });
}

function unusedMappings({ sources, mappings }: Readable): Finding[] {
  const used = new Set(sources.map(([, { mapping }]) => mapping));
  return mappings.flatMap(([name]): Finding[] =>
    used.has(name) ? [] : [{ path: ['mappings', name], at: 'key', message: 'is not used by any source' }],
  );
}
