// The bill of materials of the built package: the packages that stand in its bundles, as CycloneDX, for scanners that read no bundle.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

type Bill = {
  readonly metadata: { readonly component: { readonly name: string } & Readonly<Record<string, unknown>> };
  readonly components: readonly { readonly 'bom-ref': string }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
};

/** What npm knows of all packages of the lock file. */
export async function readBill(root: string): Promise<Bill> {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(stdout);
}

/**
 * The same bill with the bundled packages alone, and without what differs from build to build.
 * @param bundled `NAME@VERSION` of each
 * @throws where the lock file lacks one of them
 */
export function billOf(name: string, bundled: readonly string[], { metadata, ...whole }: Bill): object {
  const { components, dependencies } = whole;
  const known = new Set(components.map((one) => one['bom-ref']));
  const unknown = bundled.filter((ref) => !known.has(ref));
  if (unknown.length > 0) throw new Error(`the lock file has no ${unknown.join(', ')}`);
  const ours = new Set(bundled);
  const own = String(metadata.component['bom-ref']);
  return {
    ...{ $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json', bomFormat: 'CycloneDX', specVersion: '1.5' },
    version: 1,
    metadata: { component: { ...metadata.component, name } },
    components: components.filter((one) => ours.has(one['bom-ref'])).map((one) => ({ ...one, properties: [] })),
    dependencies: [
      { ref: own, dependsOn: bundled },
      ...dependencies
        .filter(({ ref }) => ours.has(ref))
        .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => ours.has(one)) })),
    ],
  };
}
