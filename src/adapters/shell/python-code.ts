// Whether code of Python surely only reads: every module, builtin and member in it is on a list, all else is not.
// A value that it can get hold of is data, or a function that does no harm; so no member may lead from data to code, and
// `open` stands only where it is called to read. To call what a module of the project holds is to run a program of the
// project, which is not read; all around it is held to the same lists, but for the names of members.

import { isAsking } from './programs/statements.ts';
import { type Token, tokensOf } from './python-tokens.ts';

const words = (text: string): readonly string[] => text.split(' ');

/** Modules, by the whole of their names, with what may be used of each. */
const MODULES: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    sys: words('stdin stdout stderr argv exit version version_info platform maxsize byteorder executable getsizeof'),
    os: words('listdir walk scandir getcwd stat lstat getenv environ sep linesep name cpu_count getpid readlink'),
    'os.path': words(
      'join exists isfile isdir islink basename dirname splitext abspath realpath relpath getsize getmtime expanduser normpath split commonpath',
    ),
    json: words('load loads dump dumps JSONDecodeError'),
    re: words(
      'compile match search findall finditer sub subn split fullmatch escape I M S X IGNORECASE MULTILINE DOTALL VERBOSE',
    ),
    math: words(
      'pi e inf nan sqrt floor ceil log log2 log10 exp pow sin cos tan gcd isclose isnan fabs hypot prod comb',
    ),
    time: words('time sleep strftime strptime perf_counter monotonic gmtime localtime ctime'),
    datetime: words('datetime date time timedelta timezone'),
    collections: words('Counter defaultdict OrderedDict deque'),
    itertools: words(
      'chain groupby islice product permutations combinations count cycle repeat zip_longest accumulate',
    ),
    functools: words('reduce partial'),
    operator: ['itemgetter'],
    statistics: words('mean median mode stdev pstdev variance quantiles'),
    secrets: words('token_hex token_urlsafe token_bytes choice randbelow randbits compare_digest'),
    socket: words('socket create_connection gethostname gethostbyname getaddrinfo timeout error AF_INET SOCK_STREAM'),
    // its `connect` is looked at where it stands
    sqlite3: ['Row', 'Error', 'sqlite_version'],
    // `basicConfig` is looked at where it stands
    logging: words(
      'getLogger debug info warning error exception critical log DEBUG INFO WARNING ERROR CRITICAL NOTSET getLevelName',
    ),
    inspect: words(
      'getsource getsourcelines getsourcefile getfile getdoc signature isclass isfunction ismethod iscoroutinefunction cleandoc',
    ),
    // what is run is looked at where it stands
    subprocess: words('PIPE DEVNULL STDOUT CalledProcessError TimeoutExpired'),
    asyncio: words('run gather sleep'),
    random: words('random randint choice choices sample seed uniform'),
    string: words('ascii_letters ascii_lowercase ascii_uppercase digits punctuation whitespace'),
    textwrap: words('dedent indent fill wrap shorten'),
    pprint: words('pprint pformat'),
    pathlib: words('Path PurePath PurePosixPath'),
    glob: words('glob iglob'),
    fnmatch: words('fnmatch filter'),
    csv: words('reader DictReader writer DictWriter'),
    io: words('StringIO BytesIO'),
    hashlib: words('md5 sha1 sha256 sha384 sha512'),
    base64: words('b64encode b64decode urlsafe_b64encode urlsafe_b64decode b32encode b32decode'),
    binascii: words('hexlify unhexlify crc32'),
    zlib: words('compress decompress crc32'),
    struct: words('pack unpack calcsize'),
    uuid: words('uuid4 UUID'),
    decimal: ['Decimal'],
    fractions: ['Fraction'],
    difflib: words('unified_diff ndiff get_close_matches'),
    html: words('escape unescape'),
    platform: words('python_version system machine release'),
    tomllib: words('load loads'),
    ast: words('parse literal_eval dump walk unparse'),
    traceback: ['print_exc'],
    yaml: words('safe_load safe_load_all safe_dump'),
    requests: words('get post put patch delete head'),
    'urllib.parse': words('quote unquote quote_plus urlencode urlparse urlsplit urljoin parse_qs parse_qsl'),
    'urllib.request': words('urlopen Request'),
    'importlib.metadata': ['version'],
    'xml.etree.ElementTree': words('parse fromstring tostring iterparse'),
  }),
);

/** What any module, also one that is not known, says of itself. */
const OF_MODULES: ReadonlySet<string> = new Set(words('__version__ __file__ VERSION'));

const BUILTINS: ReadonlySet<string> = new Set([
  ...words('abs all any ascii bin bool bytearray bytes callable chr complex dict dir divmod enumerate exit filter'),
  ...words('float format frozenset hasattr hash hex id int isinstance issubclass iter len list map max min next'),
  ...words('oct ord pow print quit range repr reversed round set slice sorted str sum tuple zip __name__'),
]);

/** All other names that stand for something without being made; `open` and `type` are looked at where they stand. */
const OTHERS: ReadonlySet<string> = new Set([
  ...words('aiter anext breakpoint classmethod compile copyright credits delattr eval exec getattr globals help input'),
  ...words('license locals memoryview object open property setattr staticmethod super type vars'),
  // of Python 2
  ...words('execfile raw_input reload'),
  // words of the language that make, or take apart, what is not looked at
  ...words('class async await case'),
]);

/** What texts, lists, maps, paths, times, answers and the like can do or hold; none of it writes, or reaches beyond them. */
const MEMBERS: ReadonlySet<string> = new Set([
  ...words(
    'strip lstrip rstrip split rsplit splitlines partition rpartition join replace lower upper title capitalize',
  ),
  ...words('startswith endswith find rfind index rindex count zfill ljust rjust center format encode decode isdigit'),
  ...words('isalpha isalnum isspace isupper islower casefold swapcase removeprefix removesuffix expandtabs translate'),
  ...words(
    'maketrans fromhex hex append extend insert pop popitem clear sort reverse copy get keys values items update',
  ),
  ...words('setdefault fromkeys add discard union intersection difference issubset issuperset most_common total'),
  ...words('appendleft popleft rotate elements read readline readlines close seek tell isatty fileno getvalue'),
  ...words('group groups groupdict start end span match search findall finditer sub split fullmatch pattern string'),
  ...words('exists is_file is_dir is_symlink iterdir glob rglob read_text read_bytes name stem suffix suffixes parent'),
  ...words('parents parts resolve absolute relative_to as_posix as_uri with_suffix with_name joinpath cwd home path'),
  ...words('st_size st_mtime st_mode st_ino now utcnow today fromtimestamp isoformat fromisoformat strftime strptime'),
  ...words('timestamp total_seconds weekday isoweekday date time year month day hour minute second days seconds utc'),
  ...words('json text content status status_code reason headers ok url getcode geturl info netloc hostname port query'),
  ...words('scheme fragment hexdigest digest getroot iter iterfind findtext tag attrib tail root body lineno'),
  ...words('connect connect_ex settimeout sendall recv cursor fetchall fetchone fetchmany description row_factory'),
  ...words('setLevel debug warning error exception critical stdout stderr returncode check_returncode'),
  ...words(
    'fieldnames writerow writerows writeheader major minor micro msg args real imag bit_length itemgetter from_iterable',
  ),
]);

/** Members by which a value of a listed module writes, or leads to code: beside code of the project all others pass. */
const REACHING: ReadonlySet<string> = new Set([
  ...words('write write_text write_bytes writelines open touch mkdir rename rmdir unlink chmod lchmod symlink_to'),
  ...words('hardlink_to link_to move move_into copy_into gi_frame gi_code cr_frame cr_code ag_frame ag_code tb_frame'),
  ...words(
    'os shutil subprocess pathlib builtins tempfile importlib ctypes remove system popen rmtree copyfile copytree',
  ),
  ...words('to_csv to_json to_excel to_parquet to_feather to_pickle to_sql savefig save'),
  ...words('tb_next f_code f_globals f_builtins f_locals f_back func_globals func_code'),
]);

/** What Python has at hand before it looks for a module in the project, and names by which it surely is Python's own. */
const AT_HAND: ReadonlySet<string> = new Set([
  ...words('abc atexit builtins codecs encodings errno faulthandler gc genericpath importlib marshal ntpath posix'),
  ...words('posixpath pwd runpy site stat zipimport shutil subprocess tempfile ctypes pickle zipfile tarfile pty'),
]);

/** The one way in which a database is opened to be read. */
const READING_FILE = /^['"]file:[^?'"]*\?mode=ro['"]$/;

/** Members that are only a name. */
const NAMES_OF: ReadonlySet<string> = new Set(['__name__', '__doc__']);
const READING_MODE = /^['"](?:r|rb|rt|br)['"]$/;

/** Longer code is not looked at. */
const LONGEST = 20_000;

/** What a log is told that makes it no file. */
const LOGGING: ReadonlySet<string> = new Set(words('level format datefmt style force'));

const RUNNING: ReadonlySet<string> = new Set(words('run call check_call check_output'));
/** What may stand behind the words of a program that is run: nothing that changes which one runs, how or where. */
const RUN_WITH: ReadonlySet<string> = new Set(
  words('capture_output text check timeout encoding errors universal_newlines stdout stderr input'),
);

class Refused extends Error {}

export type ReadCode = {
  /** Those that it loads. */
  readonly modules: readonly string[];
  /** The programs that it runs, with their words. */
  readonly commands: readonly (readonly string[])[];
};

type Imports = {
  /** Names that imports make, with what each stands for. */
  readonly names: Map<string, string>;
  readonly modules: Set<string>;
  readonly skipped: Set<number>;
  /** Those of the names that stand for something of the project. */
  readonly own: Set<string>;
  readonly isOwn: (module: string) => boolean;
};

/** Whether the module is one of the project, and none that Python has itself. */
function isOfProject(path: string, { isOwn }: Imports): boolean {
  const [root = ''] = path.split('.');
  return !isKnownModule(root) && !AT_HAND.has(root) && !root.startsWith('_') && isOwn(path);
}

function isKnownModule(path: string): boolean {
  return [...MODULES.keys()].some((one) => one === path || one.startsWith(`${path}.`));
}

/** Reads the statements of import; `skipped` are the places of their tokens. */
function importsOf(tokens: readonly Token[], isOwn: Imports['isOwn']): Imports {
  const imports: Imports = { names: new Map(), modules: new Set(), skipped: new Set(), own: new Set(), isOwn };
  const make = (name: string, path: string) => {
    if (BUILTINS.has(name) || OTHERS.has(name) || (imports.names.get(name) ?? path) !== path) throw new Refused();
    imports.names.set(name, path);
  };
  tokens.forEach(({ kind, text }, start) => {
    if (kind !== 'name' || (text !== 'import' && text !== 'from') || imports.skipped.has(start)) return;
    const before = tokens[start - 1];
    const isStatement = before === undefined || before.kind === 'line' || before.text === ';' || before.text === ':';
    if (!isStatement) {
      if (text === 'import') throw new Refused();
      return;
    }
    let end = start + 1;
    while (end < tokens.length && tokens[end]?.kind !== 'line' && tokens[end]?.text !== ';') end += 1;
    for (let at = start; at < end; at += 1) imports.skipped.add(at);
    readImport(
      tokens
        .slice(start, end)
        .map((token) => token.text)
        .join(' '),
      imports,
      make,
    );
  });
  return imports;
}

function readImport(statement: string, imports: Imports, make: (name: string, path: string) => void): void {
  const { modules, own } = imports;
  const plain = statement.replaceAll(' . ', '.');
  const [, source, list = ''] = /^(?:from ([\w.]+) )?import (?:\( )?([\w., ]+?)(?: ,)?(?: \))?$/.exec(plain) ?? [];
  if (list === '') throw new Refused();
  for (const one of list.split(' , ')) {
    const [, path = '', alias] = /^([A-Za-z]\w*(?:\.\w+)*)(?: as ([A-Za-z]\w*))?$/.exec(one) ?? [];
    if (path === '' || /(?:^|\.)__/.test(path)) throw new Refused();
    if (source === undefined) {
      modules.add(path);
      const [root = ''] = path.split('.');
      make(alias ?? root, alias === undefined ? root : path);
      if (isOfProject(path, imports)) own.add(alias ?? root);
    } else if (isOfProject(source, imports) || isOfProject(`${source}.${path}`, imports)) {
      // Python's own, which the project's module has at hand.
      if (AT_HAND.has(path) || REACHING.has(path) || /^(?:os|sys|io|pathlib)$/.test(path)) throw new Refused();
      modules.add(`${source}.${path}`);
      make(alias ?? path, `${source}.${path}`);
      own.add(alias ?? path);
    } else {
      const isListed = MODULES.get(source)?.includes(path) === true;
      if (!isListed && !isKnownModule(`${source}.${path}`)) throw new Refused();
      modules.add(isListed ? source : `${source}.${path}`);
      make(alias ?? path, `${source}.${path}`);
    }
  }
}

function check(code: string, isOwn: Imports['isOwn']): ReadCode {
  const commands: (readonly string[])[] = [];
  const tokens = code.length > LONGEST ? null : tokensOf(code);
  if (tokens === null) throw new Refused();
  const imports = importsOf(tokens, isOwn);
  const { own, modules } = imports;
  const textAt = (at: number) => tokens[at]?.text;
  const isSignAt = (at: number, text: string) => tokens[at]?.kind === 'sign' && textAt(at) === text;

  /** The arguments of the call whose bracket opens there. */
  const argumentsAt = (open: number): { readonly given: readonly (readonly Token[])[]; readonly end: number } => {
    if (!isSignAt(open, '(')) throw new Refused();
    const given: Token[][] = [[]];
    let depth = 0;
    for (let at = open + 1; at < tokens.length; at += 1) {
      const token = tokens[at];
      if (token === undefined) break;
      if (token.kind === 'sign' && ')]}'.includes(token.text)) depth -= 1;
      if (depth < 0) return { given: given.filter((one) => one.length > 0), end: at };
      if (token.kind === 'sign' && '([{'.includes(token.text)) depth += 1;
      if (depth === 0 && token.kind === 'sign' && token.text === ',') given.push([]);
      else given.at(-1)?.push(token);
    }
    throw new Refused();
  };

  const isNamed = ([first, second]: readonly Token[]) => first?.kind === 'name' && second?.text === '=';
  const isSpread = ([first]: readonly Token[]) => first?.kind === 'sign' && (first.text === '*' || first.text === '**');

  const opening = (at: number) => {
    const { given } = argumentsAt(at + 1);
    const [path, ...others] = given;
    if (path === undefined || isNamed(path) || given.some(isSpread)) throw new Refused();
    others.forEach((one, index) => {
      const [name, , value, more] = one;
      const isMode = isNamed(one) ? name?.text === 'mode' : index === 0;
      const text = isNamed(one) ? value : one[0];
      const isOne = isNamed(one) ? more === undefined : one.length === 1;
      const isPlain = isNamed(one) && /^(?:encoding|errors|newline)$/.test(name?.text ?? '');
      if (!(isMode && isOne && READING_MODE.test(text?.text ?? '')) && !isPlain) throw new Refused();
    });
  };

  /** A database is opened to be read. */
  const connecting = (at: number) => {
    const [[path, more] = [], [name, , value] = [], ...others] = argumentsAt(at + 1).given;
    const isUri = name?.text === 'uri' && value?.text === 'True';
    if (path?.kind !== 'text' || more !== undefined || !isUri || others.length > 0 || !READING_FILE.test(path.text))
      throw new Refused();
  };

  const textOf = (token: Token | undefined): string => {
    const [, , inner] = /^('''|"""|'|")([^\\]*)\1$/s.exec(token?.kind === 'text' ? token.text : '') ?? [];
    if (inner === undefined) throw new Refused();
    return inner;
  };

  const hasOnly = (given: readonly (readonly Token[])[], names: ReadonlySet<string>) => {
    if (!given.every((one) => isNamed(one) && names.has(one[0]?.text ?? ''))) throw new Refused();
  };

  /** Its words stand there as a list of texts. */
  const running = (at: number) => {
    const [list = [], ...others] = argumentsAt(at + 1).given;
    const inner = list.slice(1, list.at(-2)?.text === ',' ? -2 : -1);
    const isList = list[0]?.text === '[' && list.at(-1)?.text === ']' && inner.length % 2 === 1;
    if (!isList || inner.some(({ text }, index) => index % 2 === 1 && text !== ',')) throw new Refused();
    hasOnly(others, RUN_WITH);
    commands.push(inner.filter((_, index) => index % 2 === 0).map(textOf));
  };

  /** It is asked; also one that is opened so could open another. */
  const executing = (at: number) => {
    const { given } = argumentsAt(at + 1);
    const [[text, more] = []] = given;
    if (more !== undefined || given.some(isSpread) || !isAsking(textOf(text))) throw new Refused();
  };

  /** What follows a name that an import made; where that ends. */
  const ofModule = (at: number, imported: string): number => {
    if (own.has(textAt(at) ?? '')) return at;
    let path = imported;
    let end = at;
    while (isSignAt(end + 1, '.') && isKnownModule(`${path}.${textAt(end + 2)}`)) {
      path += `.${textAt(end + 2)}`;
      end += 2;
    }
    const [, parent = '', last = ''] = /^(.+)\.([^.]+)$/.exec(path) ?? [];
    // a member that was imported by itself
    if (!MODULES.has(path) && MODULES.get(parent)?.includes(last) === true) return end;
    const member = isSignAt(end + 1, '.') ? textAt(end + 2) : undefined;
    if (member === undefined || isSignAt(end + 3, '=')) throw new Refused();
    if (OF_MODULES.has(member)) {
      if (isSignAt(end + 3, '(')) throw new Refused();
    } else if (path === 'sqlite3' && member === 'connect') connecting(end + 2);
    else if (path === 'logging' && member === 'basicConfig') hasOnly(argumentsAt(end + 3).given, LOGGING);
    else if (path === 'subprocess' && RUNNING.has(member)) running(end + 2);
    else if (MODULES.get(path)?.includes(member) !== true) throw new Refused();
    end += 2;
    if (path !== 'sys' || !/^std(?:in|out|err)$/.test(member)) return end;
    if (isSignAt(end + 1, '.') && textAt(end + 2) === 'buffer') end += 2;
    const isShown = member !== 'stdin' && isSignAt(end + 1, '.') && /^(?:write|flush)$/.test(textAt(end + 2) ?? '');
    return isShown ? end + 2 : end;
  };

  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token?.kind !== 'name' || imports.skipped.has(at)) continue;
    const { text } = token;
    if (isSignAt(at - 1, '.')) {
      const isFree = own.size > 0 && !modules.has('sqlite3') && !text.startsWith('_') && !REACHING.has(text);
      const isListed = MEMBERS.has(text) || NAMES_OF.has(text) || (own.size > 0 && OF_MODULES.has(text));
      if (text === 'execute' && modules.has('sqlite3')) executing(at);
      else if (!isFree && !isListed) throw new Refused();
      // those of a path move and copy the file
      if ((text === 'replace' || text === 'copy') && modules.has('pathlib')) throw new Refused();
      continue;
    }
    // a name that an argument has
    if (isSignAt(at + 1, '=') && (isSignAt(at - 1, '(') || isSignAt(at - 1, ','))) continue;
    const imported = imports.names.get(text);
    if (imported !== undefined) at = ofModule(at, imported);
    else if (text === 'open') opening(at);
    else if (text === 'type') {
      const { given } = argumentsAt(at + 1);
      if (given.length !== 1 || given.some(isSpread)) throw new Refused();
    } else if (text === 'file' && isSignAt(at + 1, '(')) throw new Refused();
    else if (OTHERS.has(text) || (text.startsWith('__') && !BUILTINS.has(text))) throw new Refused();
  }
  // What is set there holds for the commands as well, which are judged without it.
  if (commands.length > 0 && tokens.some(({ text }) => text === 'environ')) throw new Refused();
  return { modules: [...modules], commands };
}

/**
 * @param isOwn whether a module, by the whole of its name, lies in the project
 * @returns null where it may do more than read and run programs
 */
export function readsPython(code: string, isOwn: (module: string) => boolean): ReadCode | null {
  try {
    return check(code, isOwn);
  } catch (error) {
    if (error instanceof Refused) return null;
    throw error;
  }
}
