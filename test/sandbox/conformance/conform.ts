import { expect } from 'vitest';
import { openApi } from '../../../src/sandbox/openapi.ts';
import {
  type SandboxOptions,
  type SandboxSettings,
  settingsOf,
} from '../../../src/sandbox/sandbox-options.ts';
import { type ApiDocument, apiContract } from '../../support/api-contract.ts';
import { bearerHeaders, type OpenSandbox, openSandbox } from '../../support/open-sandbox.ts';

/** A sandbox whose answers are all checked against its own document. */
export function conformingSandbox(options: Partial<SandboxOptions> = {}): Promise<OpenSandbox> {
  const contract = apiContract(
    openApi({ baseUrl: '', authUrl: '' }, settingsWith(options)) as ApiDocument,
  );
  return openSandbox(options, (exchange) => contract.check(exchange));
}

/** The settings of a sandbox with these options. */
export function settingsWith(options: Partial<SandboxOptions>): SandboxSettings {
  return settingsOf({
    environment: 'staging',
    port: 0,
    clientId: '',
    clientSecret: '',
    data: '',
    ...options,
  });
}

/** The required headers, with some of them replaced or, where undefined, left out. */
export function headersWith(
  token: string,
  changed: Record<string, string | undefined>,
): Record<string, string> {
  const all = Object.entries({ ...bearerHeaders(token), ...changed });
  return Object.fromEntries(
    all.filter((header): header is [string, string] => header[1] !== undefined),
  );
}

/** The envelope of a failure with this code and any message. */
export function errorEnvelope(code: number, message: unknown = expect.any(String)): unknown {
  return { status: 'error', error: { code, message } };
}
