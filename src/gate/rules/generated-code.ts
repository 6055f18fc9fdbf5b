// Source that a program has written: told by its path, or by what it says at its beginning.

const PATHS = /(?:^|\/)(?:generated|__generated__)\/|\.(?:gen|generated|pb|min)\.\w+$|_pb2(?:_grpc)?\.py$/i;
const WORDS = /@generated\b|\bCode generated\b|\bDO NOT EDIT\b/;
/** Comments before the first code: what generates has the same words further down. */
const HEAD = /^(?:\s+|\/\/[^\n]*|#[^\n]*|\/\*[\s\S]*?\*\/|(['"])use \w+\1;?)*/;
/** A head is shorter. */
const MAX_HEAD = 8_192;

export function isGeneratedPath(path: string): boolean {
  return PATHS.test(path);
}

/** Whether a file says of itself that it is generated. */
export function isMarkedGenerated(text: string): boolean {
  return WORDS.test(HEAD.exec(text.slice(0, MAX_HEAD))?.[0] ?? '');
}
