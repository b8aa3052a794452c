import * as z from 'zod';
import type { SandboxSettings } from './sandbox-options.ts';
import {
  createdEnvelope,
  createdOrder,
  errorEnvelope,
  itemSchema,
  listEnvelope,
  listedOrder,
  purchaseOrderSchema,
  tokenAnswer,
  tokenError,
  tokenRequest,
} from './schemas.ts';

type Described = Pick<SandboxSettings, 'listShape' | 'listItems' | 'tokenPath'>;
type Json = { readonly [name: string]: unknown };

/** The specification's placeholder addresses, for a document without a running server. */
export const PLACEHOLDERS = { baseUrl: 'https://{apiHost}/api/v1', authUrl: 'https://{authHost}' };

/** The OpenAPI 3.1 document of a sandbox, generated from the schemas that validate its requests. */
export function openApi(addresses: { baseUrl: string; authUrl: string }, settings: Described): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Purchase-Order API',
      version: '1',
      description:
        'The reference implementation of the Purchase-Order API. Every answer of the API is an envelope; the token endpoint follows RFC 6749. docs/decisions/ lists the choices that the specification leaves open.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [server(addresses.baseUrl, 'apiHost', 'api.staging.example.com')],
    security: [{ clientCredentials: [] }],
    tags: [
      { name: 'purchase orders', description: 'Creating and retrieving purchase orders.' },
      { name: 'authentication', description: 'The OAuth 2.0 client credentials grant.' },
    ],
    paths: {
      '/purchase-orders': { get: listOperation(), post: createOperation() },
      [settings.tokenPath]: {
        servers: [server(addresses.authUrl, 'authHost', 'auth.staging.example.com')],
        post: tokenOperation(),
      },
    },
    components: {
      schemas: schemas(settings),
      responses: responses(),
      securitySchemes: { clientCredentials: securityScheme(addresses.authUrl + settings.tokenPath) },
    },
  };
}

function server(url: string, variable: string, fallback: string): Json {
  if (!url.includes('{')) return { url };
  return { url, variables: { [variable]: { default: fallback, description: 'One for each environment.' } } };
}

function createOperation(): Json {
  return {
    tags: ['purchase orders'],
    operationId: 'createPurchaseOrder',
    summary: 'Create a purchase order',
    security: [{ clientCredentials: ['write'] }],
    requestBody: { required: true, content: json('PurchaseOrder') },
    responses: {
      201: { description: 'The order was created in state NEW.', content: json('CreatedEnvelope') },
      409: failed('The number already exists, and numbers are unique in this environment.'),
      413: failed('The body is too large.'),
      ...refusals(),
    },
  };
}

function listOperation(): Json {
  const reserved = (name: string) => ({
    name,
    in: 'query',
    description: 'Reserved for a future feature; any value is ignored.',
    schema: { type: 'string' },
  });
  return {
    tags: ['purchase orders'],
    operationId: 'listPurchaseOrders',
    summary: 'Retrieve the purchase orders',
    description: 'Returns all orders, sorted by creation.',
    security: [{ clientCredentials: ['read'] }],
    parameters: [reserved('limit'), reserved('offset')],
    responses: { 200: { description: 'Every purchase order.', content: json('ListEnvelope') }, ...refusals() },
  };
}

function tokenOperation(): Json {
  const refusal = (description: string) => ({ description, content: json('TokenError') });
  return {
    tags: ['authentication'],
    operationId: 'requestToken',
    summary: 'Request an access token',
    security: [],
    requestBody: {
      required: true,
      content: { 'application/x-www-form-urlencoded': { schema: reference('TokenRequest') } },
    },
    responses: {
      200: { description: 'A bearer token.', content: json('Token') },
      400: refusal('The request is invalid, or requests a scope that the client does not have.'),
      401: refusal('The credentials are wrong.'),
      default: failed('Any other failure.'),
    },
  };
}

function refusals(): Json {
  return {
    400: failed('A request parameter is invalid.'),
    401: { $ref: '#/components/responses/Unauthorized' },
    403: { $ref: '#/components/responses/Forbidden' },
    406: failed('The request lacks the header Accept: application/json.'),
    415: failed('The request lacks the header Content-Type: application/json.'),
    default: failed('Any other failure.'),
  };
}

function responses(): Json {
  return {
    Unauthorized: { ...failed('The bearer token is missing, unknown or expired.'), headers: challenge() },
    Forbidden: failed('The token lacks the scope, or calls from this address are not allowed.'),
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
function schemas({ listShape, listItems }: Described): Json {
  const order = listedOrder(listItems);
  const asked = { Item: itemSchema, PurchaseOrder: purchaseOrderSchema, TokenRequest: tokenRequest };
  const answered = {
    CreatedPurchaseOrder: createdOrder,
    CreatedEnvelope: createdEnvelope,
    ...(listItems && { ListedItem: itemSchema }),
    ListedPurchaseOrder: order,
    ListEnvelope: listEnvelope(order, listShape),
    ErrorEnvelope: errorEnvelope,
    Token: tokenAnswer,
    TokenError: tokenError,
  };
  return { ...componentsOf(asked, 'input'), ...componentsOf(answered, 'output') };
}

function componentsOf(named: Record<string, z.ZodType>, io: 'input' | 'output'): Record<string, Json> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const made = z.toJSONSchema(registry, { io, uri: (id) => `#/components/schemas/${id}` });
  const plain = ({ $schema: _schema, $id: _id, id: _name, ...schema }: Json): Json => schema;
  return Object.fromEntries(Object.entries(made.schemas).map(([id, schema]) => [id, plain(schema)]));
}

function failed(description: string): Json {
  return { description, content: json('ErrorEnvelope') };
}

function json(id: string): Json {
  return { 'application/json': { schema: reference(id) } };
}

function reference(id: string): Json {
  return { $ref: `#/components/schemas/${id}` };
}
