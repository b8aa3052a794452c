import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { findingsOf, wordingOf } from '../config/issues.ts';
import { mappingSchema } from '../config/mapping-schema.ts';
import { pathText } from '../config/problem.ts';
import { readYaml } from '../config/yaml-file.ts';
import { codeOf, PoSyncError, toError } from '../core/errors.ts';
import type { NamedMapping } from '../mapping/read-records.ts';

const MOST_BYTES = 1024 * 1024;

/**
 * The mappings in a file: all under `mappings:`, or the file is one itself. PoSyncError `mapping-unreadable`,
 * `mapping-invalid` with everything that is wrong with it.
 */
export async function readMappings(file: string): Promise<NamedMapping[]> {
  const yaml = readYaml(await textOf(file));
  const [fault] = yaml.faults;
  if (fault !== undefined)
    throw invalid(file, [`line ${fault.line}, column ${fault.column}: ${fault.message}`]);
  const { value } = yaml;
  const name = path.basename(file).replace(/\.ya?ml$/, '');
  const given =
    isKeyed(value) && isKeyed(value['mappings']) ? value['mappings'] : { [name]: value };

  const mappings: NamedMapping[] = [];
  const problems: string[] = [];
  for (const [key, one] of Object.entries(given)) {
    const read = mappingSchema.safeParse(one, { error: wordingOf });
    if (read.success) mappings.push({ name: key, mapping: read.data });
    else problems.push(...problemsOf(key, one, read.error.issues));
  }
  if (problems.length > 0) throw invalid(file, problems);
  return mappings;
}

async function textOf(file: string): Promise<string> {
  try {
    const text = await readFile(file, 'utf8');
    return text.slice(0, MOST_BYTES).replace(/^\ufeff/, '');
  } catch (error) {
    throw new PoSyncError(
      'mapping-unreadable',
      `${file} cannot be read: ${toError(error).message}`,
      {
        remedy: 'Name a file with a mapping, such as one that po-sync map printed.',
        facts: { file, reason: codeOf(error) ?? 'unknown' },
        cause: error,
      },
    );
  }
}

type Issues = Parameters<typeof findingsOf>[0];

/** What is wrong with one mapping, as the configuration would say it. */
function problemsOf(name: string, value: unknown, issues: Issues): string[] {
  const placed = issues.map((issue) => ({ ...issue, path: ['mappings', name, ...issue.path] }));
  return findingsOf(placed, { mappings: { [name]: value } }).map(
    ({ path: at, message }) => `${typeof at === 'string' ? at : pathText(at)}: ${message}`,
  );
}

function invalid(file: string, problems: readonly string[]): PoSyncError {
  return new PoSyncError('mapping-invalid', `${file}: ${problems.slice(0, 20).join('; ')}`, {
    remedy: 'Correct the mapping.',
    facts: { file, problems: problems.length },
  });
}

function isKeyed(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
