import { nearest } from '../nearest.ts';
import type { Finding } from '../problem.ts';
import type { Readable } from '../readable.ts';
import { type Rule, repeated } from './ruling.ts';

/** Sources have names of their own and mappings that exist. */
export const sourceRule: Rule = (parts) => {
  return { problems: [...sharedNames(parts), ...unknownMappings(parts)], warnings: unusedMappings(parts) };
};

/** Names stand in file names, and some file systems do not tell upper from lower case. */
function sharedNames({ sources }: Readable): Finding[] {
  return repeated(sources, ([, source]) => source.name.toLowerCase()).map(([[index, source], [first]]) => ({
    path: ['sources', index, 'name'],
    message: `${source.name} is the name of sources[${first}] already`,
  }));
}

function unknownMappings({ sources, mappingNames }: Readable): Finding[] {
  return sources.flatMap(([index, { mapping }]): Finding[] => {
    if (mapping === undefined || mappingNames.includes(mapping)) return [];
    const near = nearest(mapping, mappingNames);
    const known = mappingNames.length === 0 ? 'there are no mappings' : `known: ${mappingNames.join(', ')}`;
    return [
      {
        path: ['sources', index, 'mapping'],
        message: `there is no mapping ${mapping}`,
        hint: near === undefined ? known : `did you mean ${near}?`,
      },
    ];
  });
}

function unusedMappings({ sources, mappingNames }: Readable): Finding[] {
  const used = new Set(sources.map(([, { mapping }]) => mapping));
  return mappingNames
    .filter((name) => !used.has(name))
    .map((name) => ({ path: ['mappings', name], at: 'key', message: 'is not used by any source' }));
}
