import { type LoadedConfig, loadConfig } from '../../src/config/load.ts';
import { sentenceOf } from '../../src/config/problem.ts';

/** The path of the tests' configuration. */
export const CONFIG_FILE = '/srv/po/config/po-sync.yaml';

/** The minimal configuration. */
export const LEAST = `environment: staging
environments:
  staging: { baseUrl: 'https://api.example.com/api/v1', authUrl: 'https://auth.example.com' }
sources:
  - { name: inbox, type: inbox, path: ../inbox }
`;

type Given = { env?: Record<string, string>; environment?: string };

/** Loads a text as if it were in `CONFIG_FILE`. */
export function loadText(text: string, { env = {}, environment }: Given = {}): LoadedConfig {
  return loadConfig({
    text,
    file: CONFIG_FILE,
    env,
    ...(environment === undefined ? {} : { environment }),
  });
}

/** The problems of a text, one sentence each, the file called `c`. */
export function problemsIn(text: string, given: Given = {}): string[] {
  const loaded = loadText(text, given);
  return loaded.ok ? [] : loaded.problems.map((problem) => sentenceOf(problem, 'c'));
}

/** The warnings for a valid text. */
export function warningsIn(text: string, given: Given = {}): string[] {
  return configOf(text, given).warnings.map((problem) => sentenceOf(problem, 'c'));
}

/** The configuration of a text that must be valid. */
export function configOf(text: string, given: Given = {}) {
  const loaded = loadText(text, given);
  if (!loaded.ok) throw new Error(loaded.problems.map((problem) => sentenceOf(problem)).join('\n'));
  return loaded;
}
