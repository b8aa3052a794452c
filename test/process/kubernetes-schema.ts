// The part of the Kubernetes API (v1.31 reference) that docs/deploy/kubernetes uses, kept by hand: the schemas on npm accept
// unknown keys, so that they would not find a misspelled probe. Every object is closed.

type Schema = Record<string, unknown>;

const text: Schema = { type: 'string', minLength: 1 };
const name: Schema = { type: 'string', pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', maxLength: 63 };
const count: Schema = { type: 'integer', minimum: 1 };
const yes: Schema = { type: 'boolean' };
const quantity: Schema = { type: 'string', pattern: '^[0-9]+(m|Ki|Mi|Gi)?$' };
const texts: Schema = { type: 'object', additionalProperties: { type: 'string' } };
const list = (items: Schema): Schema => ({ type: 'array', items, minItems: 1 });

function closed(required: Record<string, Schema>, optional: Record<string, Schema> = {}): Schema {
  return {
    type: 'object',
    properties: { ...required, ...optional },
    required: Object.keys(required),
    additionalProperties: false,
  };
}

const metadata = closed({ name, namespace: name }, { labels: texts });
const port: Schema = { oneOf: [name, { type: 'integer', minimum: 1, maximum: 65_535 }] };
const probe: Schema = {
  ...closed(
    { periodSeconds: count },
    {
      exec: closed({ command: list(text) }),
      tcpSocket: closed({ port }),
      httpGet: closed({ path: text, port }),
      timeoutSeconds: count,
      failureThreshold: count,
    },
  ),
  oneOf: ['exec', 'tcpSocket', 'httpGet'].map((kind) => ({ required: [kind] })),
};
const amounts = closed({}, { cpu: quantity, memory: quantity });
const program = {
  name,
  image: text,
  securityContext: closed({
    allowPrivilegeEscalation: { const: false },
    readOnlyRootFilesystem: { const: true },
    capabilities: closed({ drop: { const: ['ALL'] } }),
  }),
  resources: closed({ requests: amounts, limits: amounts }),
  volumeMounts: list(
    closed({ name, mountPath: { type: 'string', pattern: '^/' } }, { readOnly: yes }),
  ),
};
const initContainer = closed({ ...program, command: list(text) });
const container = closed(
  { ...program, livenessProbe: probe, readinessProbe: probe },
  {
    startupProbe: probe,
    command: list(text),
    args: list(text),
    env: list(closed({ name: { type: 'string', pattern: '^[A-Z0-9_]+$' }, value: text })),
    ports: list(closed({ name, containerPort: { type: 'integer', minimum: 1, maximum: 65_535 } })),
  },
);
const mode: Schema = { type: 'integer', minimum: 0, maximum: 0o777 };
const volume: Schema = {
  ...closed(
    { name },
    {
      configMap: closed({ name }),
      secret: closed(
        { secretName: name },
        { defaultMode: mode, items: list(closed({ key: text, path: text })) },
      ),
      persistentVolumeClaim: closed({ claimName: name }),
      emptyDir: closed({}, { medium: { const: 'Memory' }, sizeLimit: quantity }),
    },
  ),
  minProperties: 2,
  maxProperties: 2,
};
const claim = closed({
  accessModes: list({ enum: ['ReadWriteOnce', 'ReadWriteMany'] }),
  resources: closed({ requests: closed({ storage: quantity }) }),
});
const pod = closed(
  {
    automountServiceAccountToken: { const: false },
    securityContext: closed({
      runAsNonRoot: { const: true },
      runAsUser: count,
      runAsGroup: count,
      fsGroup: count,
      seccompProfile: closed({ type: { const: 'RuntimeDefault' } }),
    }),
    containers: list(container),
    volumes: list(volume),
  },
  { terminationGracePeriodSeconds: count, initContainers: list(initContainer) },
);
const labels = closed({ matchLabels: texts });

/** One document of a manifest, by its kind. */
export const MANIFEST: Schema = {
  oneOf: [
    closed({ apiVersion: { const: 'v1' }, kind: { const: 'ConfigMap' }, metadata, data: texts }),
    closed({
      apiVersion: { const: 'v1' },
      kind: { const: 'PersistentVolumeClaim' },
      metadata,
      spec: claim,
    }),
    closed({
      apiVersion: { const: 'v1' },
      kind: { const: 'Service' },
      metadata,
      spec: closed(
        { selector: texts },
        { clusterIP: { const: 'None' }, ports: list(closed({ name, port })) },
      ),
    }),
    closed({
      apiVersion: { const: 'apps/v1' },
      kind: { const: 'StatefulSet' },
      metadata,
      spec: closed({
        serviceName: name,
        replicas: count,
        selector: labels,
        template: closed({ metadata: closed({ labels: texts }), spec: pod }),
        volumeClaimTemplates: list(closed({ metadata: closed({ name }), spec: claim })),
      }),
    }),
  ],
};
