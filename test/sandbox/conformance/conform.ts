import { expect } from 'vitest';
import { openApi, PLACEHOLDERS } from '../../../src/sandbox/openapi.ts';
import type { SandboxOptions } from '../../../src/sandbox/sandbox-options.ts';
import { type ApiDocument, apiContract } from '../../support/api-contract.ts';
import { bearerHeaders, type OpenSandbox, openSandbox } from '../../support/open-sandbox.ts';

/** A sandbox whose answers are all checked against docs/openapi.yaml, or its own document with other settings. */
export function conformingSandbox(options: Partial<SandboxOptions> = {}): Promise<OpenSandbox> {
  const { tokenPath, listShape, listItems } = options;
  const isDefault = tokenPath === undefined && listShape === undefined && listItems === undefined;
  const contract = isDefault ? apiContract() : apiContract(documentOf(options));
  return openSandbox(options, (exchange) => contract.check(exchange));
}

function documentOf({ tokenPath = '/oauth2/token', listShape = 'object', listItems = true }: Partial<SandboxOptions>) {
  const text = JSON.stringify(openApi(PLACEHOLDERS, { tokenPath, listShape, listItems }));
  return JSON.parse(text) as ApiDocument;
}

/** The required headers, with some of them replaced or, where undefined, left out. */
export function headersWith(token: string, changed: Record<string, string | undefined>): Record<string, string> {
  const all = Object.entries({ ...bearerHeaders(token), ...changed });
  return Object.fromEntries(all.filter((header): header is [string, string] => header[1] !== undefined));
}

/** The envelope of a failure with this code and any message. */
export function errorEnvelope(code: number, message: unknown = expect.any(String)): unknown {
  return { status: 'error', error: { code, message } };
}
