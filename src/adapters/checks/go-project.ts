// A Go module: the go command, and the two tools that most projects add to it.

import { found, gap, isInstalled, type Project, readText, type Surroundings, way } from './project.ts';

/** Each package's tests tell of all packages, so that most rows come many times. */
const ONCE =
  'code=$?; f="$TOOL_REPORTS/go.out"; if [ -f "$f" ]; then { head -n 1 "$f"; tail -n +2 "$f" | sort -u; } >"$f.once" && mv "$f.once" "$f"; fi; exit $code';

export async function findGoProject({ root, env }: Surroundings): Promise<Project | null> {
  if (readText(root, 'go.mod') === null) return null;
  return {
    manifest: 'go.mod',
    languages: ['go'],
    tests: found(way('go test ./...')),
    // Of all packages: tests may lie in one of their own.
    coverage: found(
      way('go test -coverpkg=./... ./...', {
        script: `go test -coverpkg=./... -coverprofile="$TOOL_REPORTS/go.out" ./...; ${ONCE}`,
        report: 'go.out',
      }),
    ),
    coverageRunsTests: true,
    lint: isInstalled('go', env)
      ? found(way('go vet ./...'), ...(isInstalled('golangci-lint', env) ? [way('golangci-lint run')] : []))
      : gap('go is not installed'),
    security: isInstalled('govulncheck', env) ? found(way('govulncheck ./...')) : gap('govulncheck is not installed'),
  };
}

/** The path that stands before the files of a module in its profiles. */
export function modulePathOf(root: string): string | null {
  return /^module\s+"?([^\s"]+)/m.exec(readText(root, 'go.mod') ?? '')?.[1] ?? null;
}
