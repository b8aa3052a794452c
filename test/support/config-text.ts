import { type LoadedConfig, loadConfig } from '../../src/config/load.ts';
import { sentenceOf } from '../../src/config/problem.ts';

/** Where the tests' configuration is said to stand. */
export const CONFIG_FILE = '/srv/po/config/po-sync.yaml';

/** The least that a configuration must say. */
export const LEAST = `environment: staging
environments:
  staging: { baseUrl: 'https://api.example.com/api/v1', authUrl: 'https://auth.example.com' }
sources:
  - { name: inbox, type: inbox, path: ../inbox }
`;

type Given = { env?: Record<string, string>; environment?: string };

/** Loads a text as if it stood in `CONFIG_FILE`. */
export function loadText(text: string, { env = {}, environment }: Given = {}): LoadedConfig {
  return loadConfig({ text, file: CONFIG_FILE, env, ...(environment === undefined ? {} : { environment }) });
}

/** What a text is found to be wrong in, one sentence a problem, the file called `c`. */
export function problemsIn(text: string, given: Given = {}): string[] {
  const loaded = loadText(text, given);
  return loaded.ok ? [] : loaded.problems.map((problem) => sentenceOf(problem, 'c'));
}

/** What a text that is right is warned of. */
export function warningsIn(text: string, given: Given = {}): string[] {
  return configOf(text, given).warnings.map((problem) => sentenceOf(problem, 'c'));
}

/** The configuration of a text that must be right. */
export function configOf(text: string, given: Given = {}) {
  const loaded = loadText(text, given);
  if (!loaded.ok) throw new Error(loaded.problems.map((problem) => sentenceOf(problem)).join('\n'));
  return loaded;
}
