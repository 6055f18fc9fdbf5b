// The bill of materials of the built package: its dependencies and theirs, and what stands in its bundles, as CycloneDX.

import { execa } from 'execa';

type Bill = {
  readonly metadata: { readonly component: { readonly name: string } & Readonly<Record<string, unknown>> };
  readonly components: readonly { readonly 'bom-ref': string; readonly hashes?: unknown }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
};

/** What npm knows of all packages of the lock file. */
export async function readBill(root: string): Promise<Bill> {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'];
  const { stdout } = await execa('npm', args, { cwd: root });
  return JSON.parse(stdout);
}

/** Packages as `NAME@VERSION`. */
type Own = { readonly name: string; readonly dependencies: readonly string[]; readonly bundled: readonly string[] };

/**
 * The same bill with the dependencies and theirs and the bundled packages, and without what differs from build to build.
 * @throws where the lock file lacks one
 */
export function billOf(own: Own, { metadata, ...whole }: Bill): object {
  const { components, dependencies } = whole;
  const known = new Set(components.map((one) => one['bom-ref']));
  const roots = [...new Set([...own.dependencies, ...own.bundled])].sort();
  const unknown = roots.filter((ref) => !known.has(ref));
  if (unknown.length > 0) throw new Error(`the lock file has no ${unknown.join(', ')}`);
  const ours = new Set(own.dependencies);
  for (const one of ours)
    for (const { ref, dependsOn } of dependencies) if (ref === one) for (const next of dependsOn) ours.add(next);
  for (const ref of own.bundled) ours.add(ref);
  return {
    ...{ $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json', bomFormat: 'CycloneDX', specVersion: '1.5' },
    version: 1,
    metadata: { component: { ...metadata.component, name: own.name } },
    // Hashes are of archives that nobody gets with this package: npm checks its own, and they are most of what the bill takes.
    components: components
      .filter((one) => ours.has(one['bom-ref']))
      .map(({ hashes: _, ...one }) => ({ ...one, properties: [] })),
    dependencies: [
      { ref: String(metadata.component['bom-ref']), dependsOn: roots },
      ...dependencies
        .filter(({ ref }) => ours.has(ref))
        .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => ours.has(one)) })),
    ],
  };
}
