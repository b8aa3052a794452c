import * as z from 'zod';
import { type SandboxSettings, TOKEN_PATHS, type TokenPath } from './sandbox-options.ts';
import {
  createdEnvelope,
  createdOrder,
  errorEnvelope,
  itemSchema,
  LIST_KEY,
  listEnvelope,
  listedOrder,
  purchaseOrderSchema,
  tokenAnswer,
  tokenError,
  tokenRequest,
} from './schemas.ts';

type Json = { readonly [name: string]: unknown };

/** The addresses that the specification shows, for a document without a running server. */
export const PLACEHOLDERS = { baseUrl: 'https://{apiHost}/api/v1', authUrl: 'https://{authHost}' };
/** The environments of the specification (API part 1), and how their hosts are called in examples. */
const ENVIRONMENTS = {
  Staging: 'staging',
  'User acceptance testing': 'uat',
  Production: 'production',
};

const REQUIRED_HEADERS =
  'Required headers: `Authorization: Bearer <ACCESS_TOKEN>`, `Content-Type: application/json`, `Accept: application/json`.';
const DESCRIPTION = [
  'The reference implementation of the Purchase-Order API.',
  'Every call under `/api/v1` carries three headers, a GET too: `Authorization: Bearer <ACCESS_TOKEN>`, `Content-Type: application/json` and `Accept: application/json`. OpenAPI cannot declare them as parameters, so configure a generated client to send the last two with every call.',
  'Every answer of the API is an envelope; the token endpoint follows RFC 6749.',
  'docs/rehearsals.md lists the choices that the specification leaves open.',
].join('\n\n');

const ORDER = {
  purchaseOrderNumber: '4500012345',
  orderState: 'NEW',
  items: [{ articleCode: 'A-100', quantity: 12 }],
};
const TOKEN_EXAMPLE = { access_token: '<ACCESS_TOKEN>', expires_in: 3600, token_type: 'Bearer' };

/** The OpenAPI 3.1 document of a sandbox, generated from the schemas that validate its requests. */
export function openApi(
  addresses: { baseUrl: string; authUrl: string },
  settings: SandboxSettings,
): Json {
  const tokenPaths = TOKEN_PATHS.map((path) => [
    path,
    {
      servers: servers(addresses.authUrl, 'authHost', 'auth'),
      post: tokenOperation(path, settings, addresses.authUrl),
    },
  ]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Purchase-Order API',
      version: '1',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: servers(addresses.baseUrl, 'apiHost', 'api'),
    security: [{ clientCredentials: [] }],
    tags: [
      { name: 'purchase orders', description: 'Creating and retrieving purchase orders.' },
      { name: 'authentication', description: 'The OAuth 2.0 client credentials grant.' },
    ],
    paths: {
      '/purchase-orders': { get: listOperation(settings), post: createOperation() },
      ...Object.fromEntries(tokenPaths),
    },
    components: {
      schemas: schemas(settings),
      responses: responses(),
      securitySchemes: {
        clientCredentials: securityScheme(addresses.authUrl + settings.tokenPath),
      },
    },
  };
}

/** One server for a running sandbox, or one for each environment of the specification. */
function servers(url: string, variable: string, host: string): Json[] {
  if (!url.includes('{')) return [{ url, description: 'This sandbox' }];
  return Object.entries(ENVIRONMENTS).map(([description, name]) => ({
    url,
    description,
    variables: {
      [variable]: { default: `${host}.${name}.example.com`, description: `The host of ${name}.` },
    },
  }));
}

function createOperation(): Json {
  const { items: _items, ...data } = ORDER;
  const duplicate = failed(
    'The number already exists, and numbers are unique in this environment.',
    409,
  );
  return {
    tags: ['purchase orders'],
    operationId: 'createPurchaseOrder',
    summary: 'Create a purchase order',
    description: REQUIRED_HEADERS,
    security: [{ clientCredentials: ['write'] }],
    requestBody: { required: true, content: json('PurchaseOrder', ORDER) },
    responses: {
      201: {
        description: 'The order was created in state NEW.',
        content: json('CreatedEnvelope', { status: 'success', data, error: null }),
      },
      409: duplicate,
      413: failed('The body is too large.', 413),
      ...refusals(),
    },
  };
}

function listOperation({ listShape, listItems }: SandboxSettings): Json {
  const reserved = (name: string) => ({
    name,
    in: 'query',
    description: 'Reserved for a future feature; any value is ignored.',
    schema: { type: 'string' },
  });
  const { items, ...head } = ORDER;
  const orders = [listItems ? { ...head, items } : head];
  const data = listShape === 'array' ? orders : { [LIST_KEY]: orders };
  const content = json('ListEnvelope', { status: 'success', data, error: null });
  return {
    tags: ['purchase orders'],
    operationId: 'listPurchaseOrders',
    summary: 'Retrieve the purchase orders',
    description: `Returns all orders, sorted by creation. ${REQUIRED_HEADERS}`,
    security: [{ clientCredentials: ['read'] }],
    parameters: [reserved('limit'), reserved('offset')],
    responses: { 200: { description: 'Every purchase order.', content }, ...refusals() },
  };
}

function tokenOperation(path: TokenPath, settings: SandboxSettings, authUrl: string): Json {
  const refusal = (description: string, error: string) => ({
    description,
    content: json('TokenError', { error }),
  });
  const isFirst = path === TOKEN_PATHS[0];
  const offered =
    path === settings.tokenPath
      ? 'This sandbox accepts this one.'
      : 'This sandbox answers 404 here.';
  return {
    tags: ['authentication'],
    operationId: isFirst ? 'requestToken' : 'requestTokenAtOtherPath',
    summary: isFirst
      ? 'Request an access token'
      : 'Request an access token, at the other spelling of the path',
    description: [
      `An environment accepts one of ${TOKEN_PATHS.join(' and ')}.`,
      ...(authUrl.includes('{') ? [] : [offered]),
      'Required header: `Content-Type: application/x-www-form-urlencoded`.',
      CREDENTIALS[settings.demand.clientAuth ?? 'both'],
    ].join(' '),
    security: [],
    requestBody: {
      required: true,
      content: {
        'application/x-www-form-urlencoded': {
          schema: reference('TokenRequest'),
          example: {
            grant_type: 'client_credentials',
            client_id: '<CLIENT_ID>',
            client_secret: '<CLIENT_SECRET>',
            scope: 'read write',
          },
        },
      },
    },
    responses: {
      200: { description: 'A bearer token.', content: json('Token', TOKEN_EXAMPLE) },
      400: refusal(
        'The request is invalid, or requests a scope that the client does not have.',
        'invalid_scope',
      ),
      401: refusal('The credentials are wrong.', 'invalid_client'),
      500: refusal('The service failed.', 'server_error'),
      default: failed('Any other failure.', 404),
    },
  };
}

const CREDENTIALS = {
  form: 'The credentials are form fields.',
  basic: 'The credentials are a Basic `Authorization` header.',
  both: 'The credentials are form fields. A Basic `Authorization` header is accepted too (RFC 6749).',
};

function refusals(): Json {
  return {
    400: failed('A request parameter is invalid.', 400),
    401: { $ref: '#/components/responses/Unauthorized' },
    403: { $ref: '#/components/responses/Forbidden' },
    406: failed('The request lacks the header Accept: application/json.', 406),
    415: failed('The request lacks the header Content-Type: application/json.', 415),
    default: failed('Any other failure.', 500),
  };
}

function responses(): Json {
  const unauthorized = failed('The bearer token is missing, unknown or expired.', 401);
  return {
    Unauthorized: { ...unauthorized, headers: challenge() },
    Forbidden: failed(
      'The token lacks the scope, or calls from this address are not allowed.',
      403,
    ),
  };
}

function challenge(): Json {
  return {
    'WWW-Authenticate': {
      description: 'A challenge (RFC 6750 section 3).',
      required: true,
      schema: { type: 'string' },
    },
  };
}

function securityScheme(tokenUrl: string): Json {
  const scopes = {
    read: 'Retrieve data (e.g. fetch purchase orders).',
    write: 'Modify data (e.g. create or update purchase orders).',
    admin: 'Full access to all operations.',
  };
  const url = tokenUrl.replace('{authHost}', 'auth.staging.example.com');
  return { type: 'oauth2', flows: { clientCredentials: { tokenUrl: url, scopes } } };
}

/** Requests may contain additional fields; answers contain only the described fields. */
function schemas(settings: SandboxSettings): Json {
  const listed = listedOrder(settings);
  const asked = {
    Item: itemSchema,
    PurchaseOrder: purchaseOrderSchema,
    TokenRequest: tokenRequest(settings.demand.clientAuth),
  };
  const answered = {
    CreatedPurchaseOrder: createdOrder,
    CreatedEnvelope: createdEnvelope,
    ...(settings.listItems && { ListedItem: itemSchema }),
    ListedPurchaseOrder: listed,
    ListEnvelope: listEnvelope(listed, settings),
    ErrorEnvelope: errorEnvelope,
    Token: tokenAnswer,
    TokenError: tokenError,
  };
  return { ...componentsOf(asked, 'input'), ...componentsOf(answered, 'output') };
}

function componentsOf(
  named: Record<string, z.ZodType>,
  io: 'input' | 'output',
): Record<string, Json> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const made = z.toJSONSchema(registry, { io, uri: (id) => `#/components/schemas/${id}` });
  const plain = ({ $schema: _schema, $id: _id, id: _name, ...schema }: Json): Json => schema;
  return Object.fromEntries(
    Object.entries(made.schemas).map(([id, schema]) => [id, plain(schema)]),
  );
}

function failed(description: string, code: number): Json {
  const message =
    code === 400
      ? 'The request parameters are invalid: items must contain at least one item.'
      : description;
  return {
    description,
    content: json('ErrorEnvelope', { status: 'error', error: { code, message } }),
  };
}

function json(id: string, example: Json): Json {
  return { 'application/json': { schema: reference(id), example } };
}

function reference(id: string): Json {
  return { $ref: `#/components/schemas/${id}` };
}
