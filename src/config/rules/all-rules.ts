import type { Readable } from '../readable.ts';
import { deliveryRule } from './delivery.ts';
import { environmentRule } from './environments.ts';
import { exposureRule } from './exposure.ts';
import { folderRule } from './folders.ts';
import { mappingRule } from './mappings.ts';
import { type Ruling, type Surroundings, together } from './ruling.ts';
import { sourceRule } from './sources.ts';

/** Everything the parts of a configuration must be to one another. */
export function applyRules(parts: Readable, surroundings: Surroundings): Ruling {
  const rules = [environmentRule, sourceRule, mappingRule, folderRule, deliveryRule, exposureRule];
  return together(rules.map((rule) => rule(parts, surroundings)));
}
