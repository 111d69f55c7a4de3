// {"sources": ["app/limits.js", "app/size.js", "host/host-json.js", "page/archives-at-start.js", "page/background-files.js", "page/bundle-files.js", "page/deferred-modules.js", "page/ending.js", "page/fetch-layers.js", "page/fetch-now.js", "page/fitting.js", "page/layer-content.js", "page/linking.js", "page/loader.js", "page/missing.js", "page/page.js", "page/read-now.js", "page/remembered.js", "page/restore.js", "page/second-files.js", "page/sha256.js", "page/surroundings.js", "page/unpack-worker.js", "page/unzip.js", "page/worker-page.js", "page/worker-program.js", "page/workers.js", "page/zstd.js"], "sha256": "659e055869fb6ead83b516fce5038b36c14ff87a2edffab0a4ae0313fa27a71a"}
// static/host/host-json.js
var FREE_GROWTH = 1024 * 1024;
var MOST_GROWTH = 16;
var BRACKETS = 1;
var MOST_NESTING = 1e3;
var LONGEST_TEXT = 4096;
var MOST_UNASKED = 256 * 1024;
var Unwritable = class extends Error {
  constructor(name2, message) {
    super(message);
    this.name = name2;
  }
};
function jsonOf(data, { maxMessageBytes = Infinity, maxNesting = MOST_NESTING } = {}) {
  measure(data, maxMessageBytes, maxNesting);
  const text = JSON.stringify(data);
  checkBytes(text, maxMessageBytes);
  return text;
}
function textOrReason(data, limits = {}, isWanted = true) {
  if (!isWanted && isLarge(data)) return ["Large", "It is large.", headText(data)];
  try {
    return jsonOf(withReadableError(data), limits) ?? null;
  } catch (error) {
    return [error.name, error.message, headText(data)];
  }
}
function isLarge(data) {
  if (typeof data === "string") return data.length > MOST_UNASKED && !/^\s*\{/.test(data);
  try {
    measure(data, MOST_UNASKED, MOST_NESTING);
  } catch (error) {
    return error.name === "MessageTooLarge";
  }
  return false;
}
var HEAD = ["type", "channel", "direction", "messageId", "jsonrpc", "id", "method", "result", "error"];
function headText(data) {
  if (!isRecord(data)) return "null";
  const payload = isRecord(data.payload) ? headOf(data.payload) : short(member(data, "payload"));
  return JSON.stringify({ ...headOf(data), payload });
}
var headOf = (data) => Object.fromEntries(HEAD.map((name2) => [name2, short(member(data, name2))]));
function short(value) {
  if (typeof value === "string") return value.length <= LONGEST_TEXT ? value : null;
  return typeof value === "object" || typeof value === "bigint" ? null : value;
}
function withReadableError(data) {
  const error = isRecord(data) && isRecord(data.payload) ? data.payload.error : void 0;
  if (!(error instanceof Error)) return data;
  return { ...data, payload: { ...data.payload, error: { name: error.name, message: error.message } } };
}
var isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
function member(value, name2) {
  if (!isRecord(value) || !Object.hasOwn(value, name2)) return void 0;
  const inner = value[name2];
  return isBoxed(inner) ? inner.valueOf() : inner;
}
var isBoxed = (value) => value instanceof String || value instanceof Number || value instanceof Boolean;
var isIndex = (key) => String(key >>> 0) === key && key !== "4294967295";
function measure(root, maxBytes, maxNesting) {
  if (!new Measure(maxBytes, maxNesting).isTree(root)) new Measure(maxBytes, maxNesting).checkGrowth(root);
}
var Measure = class {
  /** The size of the posted message, with each object counted once. */
  #real = 0;
  /** Objects that were met: all at first, then each with its size as JSON and its levels, or null while it is measured. */
  #met = /* @__PURE__ */ new Set();
  #known = /* @__PURE__ */ new Map();
  #levels = 0;
  constructor(maxBytes, maxNesting) {
    this.maxBytes = maxBytes;
    this.maxNesting = maxNesting;
  }
  /** Whether no object is used twice and no array has holes: then the JSON is as large as the posted message. */
  isTree(value, depth = 1) {
    const leaf = this.#leaf(value);
    if (leaf) return this.#add(leaf);
    if (this.#met.has(value)) return false;
    this.#met.add(value);
    if (depth > this.maxNesting) throw this.#tooDeep();
    this.#add(BRACKETS);
    if (ArrayBuffer.isView(value)) return this.#add(lengthOf(value) * 6);
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index++) {
        const item = value[index];
        if (item === void 0 && !Object.hasOwn(value, index)) return false;
        if (!this.isTree(item, depth + 1)) return false;
        this.#real += 1;
      }
      return true;
    }
    for (const key in value) {
      const item = value[key];
      if (item === void 0) continue;
      this.#add(key.length + 4);
      if (!this.isTree(item, depth + 1)) return false;
    }
    return true;
  }
  /** Throw if the JSON would be out of proportion, or too deep. */
  checkGrowth(root) {
    const size = this.#sizeOf(root, 1);
    if (size > this.maxBytes) throw tooLarge(this.maxBytes);
    if (size <= FREE_GROWTH + this.#real * MOST_GROWTH) return;
    throw new Unwritable(
      "MessageTooLarge",
      "The message is much larger as JSON than it was posted: it has holes, or parts that stand in many places."
    );
  }
  /** The size of a value as JSON; `#levels` is how deep it is, afterwards. */
  #sizeOf(value, depth) {
    this.#levels = 0;
    const leaf = this.#leaf(value);
    if (leaf) return this.#add(leaf) && leaf;
    let known = this.#known.get(value);
    if (known === null) throw new Unwritable("MalformedMessage", "The message holds itself, which JSON cannot carry.");
    if (depth > this.maxNesting || known && depth + known.levels - 1 > this.maxNesting) throw this.#tooDeep();
    if (!known) {
      this.#known.set(value, null);
      this.#add(BRACKETS);
      const size = BRACKETS + this.#insideOf(value, depth + 1);
      known = { size, levels: this.#levels + 1 };
      this.#known.set(value, known);
    }
    this.#levels = known.levels;
    return known.size;
  }
  #insideOf(value, depth) {
    if (ArrayBuffer.isView(value)) {
      const size2 = lengthOf(value) * 6;
      this.#add(size2);
      return size2;
    }
    const isArray = Array.isArray(value);
    let [size, deepest, items] = [0, 0, 0];
    const keys = isArray && isDense(value) ? value.keys() : Object.keys(value);
    for (const key of keys) {
      if (isArray && typeof key === "string" && !isIndex(key)) continue;
      const item = value[key];
      if (!isArray) {
        if (item === void 0) continue;
        this.#add(key.length + 4);
        size += key.length + 4;
      }
      size += 1 + this.#sizeOf(item, depth);
      items += 1;
      deepest = Math.max(deepest, this.#levels);
    }
    this.#levels = deepest;
    return isArray ? size + (value.length - items) * 5 : size;
  }
  /** The size of a value without members; 0 for arrays and objects. */
  #leaf(value) {
    if (typeof value === "string") return value.length + 2;
    if (typeof value === "bigint") throw new Unwritable("MalformedMessage", "A BigInt is not JSON data.");
    if (typeof value !== "object" || value === null) return 1;
    if (value instanceof String) return value.length + 2;
    return isBoxed(value) || value instanceof Date ? 1 : 0;
  }
  #add(bytes2) {
    this.#real += bytes2;
    if (this.#real > this.maxBytes) throw tooLarge(this.maxBytes);
    return true;
  }
  #tooDeep() {
    return new Unwritable(
      "MessageTooDeep",
      `The message is nested deeper than ${this.maxNesting} levels (maxNesting).`
    );
  }
};
function lengthOf(view) {
  return view.length ?? 0;
}
function isDense(list) {
  for (let index = 0; index < list.length; index++) {
    if (list[index] === void 0 && !Object.hasOwn(list, index)) return false;
  }
  return true;
}
function checkBytes(text, maxBytes) {
  const length = text?.length ?? 0;
  if (length > maxBytes || length * 3 > maxBytes && new TextEncoder().encode(text).length > maxBytes) {
    throw tooLarge(maxBytes);
  }
}
var tooLarge = (limit) => new Unwritable("MessageTooLarge", `The message has more than ${limit} bytes (maxMessageBytes).`);

// static/page/archives-at-start.js
function archivesAtStart({ archives, server_path }, which) {
  const needed = {
    none: () => false,
    server: ({ to }) => to === server_path,
    own: ({ own }) => own,
    all: () => true
  };
  return archives.filter(needed[which]);
}

// static/page/linking.js
var EMPTY_MODULE = [0, 97, 115, 109, 1, 0, 0, 0];
var TYPES = { i: 127, p: 127, j: 126, f: 125, d: 124, e: 111 };
var [FUNCTION_TYPE, CUSTOM, TYPE, IMPORT, FUNCTION, TABLE, EXPORT, ELEMENT, CODE] = [96, 0, 1, 2, 3, 4, 7, 9, 10];
function number(value) {
  const bytes2 = [];
  for (let rest = value; rest || !bytes2.length; rest >>>= 7) bytes2.push(rest & 127 | (rest > 127 ? 128 : 0));
  return bytes2;
}
var vector = (items) => [...number(items.length), ...items.flat()];
var name = (text) => vector([...new TextEncoder().encode(text)]);
var section = (id, content) => [id, ...vector(content)];
var ONE_FUNCTION = [
  ...EMPTY_MODULE,
  ...section(TYPE, vector([[FUNCTION_TYPE, 0, 0]])),
  ...section(FUNCTION, vector([[0]])),
  ...section(TABLE, vector([[112, 0, 1]])),
  // functions, at least one
  ...section(
    EXPORT,
    vector([
      [...name("one"), 0, 0],
      [...name("table"), 1, 0]
    ])
  ),
  ...section(ELEMENT, vector([[0, 65, 0, 11, 1, 0]])),
  // at `i32.const 0`: the function
  ...section(CODE, vector([[2, 0, 11]]))
];
var emptyModule = () => Uint8Array.from(EMPTY_MODULE);
function headOf2(library) {
  const content = new Uint8Array(WebAssembly.Module.customSections(library, "dylink.0")[0]);
  return Uint8Array.from([...EMPTY_MODULE, ...section(CUSTOM, [...name("dylink.0"), ...content])]);
}
function hasCopies() {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(Uint8Array.from(ONE_FUNCTION)));
  const { one, table } = (
    /** @type {any} */
    exports
  );
  return table.get(0) !== one;
}
function replaceCopies({ exports }, { env }) {
  const { __indirect_function_table: table = env.__indirect_function_table } = exports;
  const first = table === exports.__indirect_function_table ? 0 : env.__table_base;
  const functions = Object.values(exports).filter((one) => typeof one === "function");
  const byNumber = new Map(functions.map((one) => [one.name, one]));
  for (let place2 = first; place2 < table.length; place2 += 1) {
    const exported = byNumber.get(table.get(place2)?.name);
    if (exported) table.set(place2, exported);
  }
}
function settleLibraries({ LDSO: { loadedLibsByName: loaded }, addFunction }, libraries) {
  for (const { path, neededAs } of libraries) {
    loaded[path] ??= loaded[neededAs];
    for (const [name2, exported] of Object.entries(loaded[path].exports)) {
      if (name2.startsWith("PyInit_")) addFunction(exported);
    }
  }
}
function asWasm(functions) {
  const all = [...new Set(functions)];
  const types = [...new Set(all.map(({ sig }) => sig))];
  const valueTypes = (letters) => vector([...letters].map((letter) => TYPES[letter]));
  const typed = ([result, ...parameters]) => [
    FUNCTION_TYPE,
    ...valueTypes(parameters),
    ...valueTypes(result === "v" ? "" : result)
  ];
  const bytes2 = Uint8Array.from([
    ...EMPTY_MODULE,
    ...section(TYPE, vector(types.map(typed))),
    ...section(
      IMPORT,
      vector(all.map(({ sig }, at) => [...name(""), ...name(String(at)), 0, ...number(types.indexOf(sig))]))
    ),
    ...section(EXPORT, vector(all.map((_, at) => [...name(String(at)), 0, ...number(at)])))
  ]);
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes2), { "": { ...all } });
  return new Map(all.map((one, at) => [one, exports[at]]));
}

// static/page/missing.js
var missing = (url, status) => `${url} is missing (the web server answers ${status}): reload the page if its site was published anew meanwhile; else upload the whole folder that was built.`;

// static/app/limits.js
var DRAWING = 1e3;
var LEAST_FILLED = 320;

// static/app/size.js
var HIDDEN = 100;
function styled(styles, run2) {
  const { style } = document.documentElement;
  const before = Object.fromEntries(Object.keys(styles).map((name2) => [name2, style[name2]]));
  try {
    return run2(Object.assign(style, styles));
  } finally {
    Object.assign(style, before);
  }
}
var CONTENT = { height: "max-content", minHeight: "0" };
var contentHeight = () => styled(CONTENT, () => Math.ceil(document.documentElement.getBoundingClientRect().height));
function watchSizes(measure2) {
  let [frame, timer] = [0, 0];
  const cancel = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    timer = 0;
  };
  const run2 = () => {
    cancel();
    measure2();
  };
  const schedule = () => {
    if (timer) return;
    timer = setTimeout(run2, HIDDEN);
    frame = requestAnimationFrame(run2);
  };
  const sizes2 = new ResizeObserver(schedule);
  const stop = () => {
    sizes2.disconnect();
    cancel();
  };
  return { sizes: sizes2, schedule, stop };
}

// static/page/fitting.js
var FILLS = "data-mcpframe-fills";
var MOST_ELEMENTS = 2e3;
var VIEWPORT_LENGTH = /\d[dls]?v(h|b|min|max)\b/;
var MOST_FOLLOWED = 3;
var OwnSize = class {
  /**
   * @param {(width: number, height: number) => void} report
   * @param {"fill" | number} [wanted] the author's choice; by default the content decides
   */
  constructor(report, wanted) {
    this.report = report;
    this.wanted = wanted;
    this.reported = null;
    this.last = { width: 0, height: 0, frame: 0 };
    this.followed = 0;
  }
  /** @param {{ width: number, height: number, frame: number, fills: boolean, follows: boolean }} measured */
  measured({ width, height, frame, fills, follows }) {
    const { last } = this;
    const [grown, frameGrown] = [height - last.height, frame - last.frame];
    const isBound = frameGrown !== 0 && grown * frameGrown > 0 && Math.abs(grown) >= Math.abs(frameGrown);
    if (this.reported && width === last.width && isBound) this.followed += 1;
    else if (width !== last.width || grown !== 0 || frameGrown !== 0) this.followed = 0;
    this.last = { width, height, frame };
    if (this.followed >= (follows ? 1 : MOST_FOLLOWED)) return;
    const isFilled = fills || this.wanted === "fill";
    const least = isFilled || follows || height < 1 ? LEAST_FILLED : 0;
    if (isFilled && this.reported && frame >= Math.max(height, least)) return;
    const own = Math.max(height, least, isFilled ? frame : 0);
    const asked = typeof this.wanted === "number" ? this.wanted : own;
    if (this.reported?.width === width && this.reported.height === asked) return;
    this.reported = { width, height: asked };
    this.report(width, asked);
  }
};
var Measure2 = class {
  constructor() {
    this.root = document.documentElement;
    this.follows = false;
    this.sheets = /* @__PURE__ */ new Map();
  }
  /** @param {number | undefined} reported the height that was reported last */
  read(reported) {
    const { root } = this;
    const [width, frame] = [innerWidth, innerHeight];
    const isChosen2 = root.getAttribute(FILLS) === "page";
    const app = document.getElementById("mcpframe-app");
    const scrolled = [root, ...app?.querySelectorAll("*") ?? []].slice(0, MOST_ELEMENTS).filter((each) => each.scrollTop);
    const places = scrolled.map((each) => each.scrollTop);
    if (!isChosen2) root.removeAttribute(FILLS);
    let height = contentHeight();
    const elements = app ? [...app.querySelectorAll("*")].slice(0, MOST_ELEMENTS) : [];
    let fills = isChosen2;
    if (!fills && height < Math.max(frame, LEAST_FILLED)) {
      root.setAttribute(FILLS, "");
      const trial = 2 * (height + frame) + 4e3;
      const styles = { height: `${trial}px`, transform: "translate(0)" };
      fills = styled(styles, () => elements.some((each) => each.getBoundingClientRect().height > trial / 2));
      if (!fills) root.removeAttribute(FILLS);
    }
    const mayFollow = frame !== reported || this.follows;
    this.follows = mayFollow && styled(CONTENT, () => this.hasFrameHeight(frame, elements)) && this.hasViewportLengths();
    if (this.follows && height > frame) root.setAttribute(FILLS, "");
    if (root.hasAttribute(FILLS)) height = contentHeight();
    for (const [index, each] of scrolled.entries()) each.scrollTop = places[index];
    return { width: Math.ceil(width), height, frame: Math.ceil(frame), fills, follows: this.follows };
  }
  /** Returns whether an element is exactly as high as the frame. */
  hasFrameHeight(frame, elements) {
    return [document.body, ...elements].some((each) => {
      const { height } = each.getBoundingClientRect();
      if (height < frame - 1) return false;
      if (Math.abs(height - frame) < 1) return true;
      const { paddingTop, paddingBottom, boxSizing } = getComputedStyle(each);
      const inner = each.clientHeight - Number.parseFloat(paddingTop) - Number.parseFloat(paddingBottom);
      return boxSizing === "content-box" && Math.abs(inner - frame) < 1;
    });
  }
  hasViewportLengths() {
    const sheets = [...document.styleSheets, ...document.adoptedStyleSheets ?? []];
    const own = [...document.querySelectorAll("[style]")];
    return sheets.some((sheet) => this.isBoundToViewport(sheet)) || own.some((each) => VIEWPORT_LENGTH.test(each.getAttribute("style")));
  }
  isBoundToViewport(sheet) {
    try {
      const { length } = sheet.cssRules;
      const known = this.sheets.get(sheet);
      if (known?.length === length) return known.isBound;
      const isBound = [...sheet.cssRules].some(({ cssText }) => VIEWPORT_LENGTH.test(cssText));
      this.sheets.set(sheet, { length, isBound });
      return isBound;
    } catch {
      return false;
    }
  }
};
function followSize(report, wanted, isDrawn) {
  const app = document.getElementById("mcpframe-app");
  const measure2 = new Measure2();
  const size = new OwnSize(report, wanted);
  function measured() {
    isDrawn ||= app.hasChildNodes();
    if (isDrawn) size.measured(measure2.read(size.reported?.height));
  }
  const { sizes: sizes2, schedule, stop } = watchSizes(measured);
  const observe = () => {
    for (const each of [document.documentElement, document.body, ...document.body.children, ...app.children])
      sizes2.observe(each);
    schedule();
  };
  const elements = new MutationObserver(observe);
  for (const each of [document.body, app]) elements.observe(each, { childList: true });
  addEventListener("resize", schedule);
  const late = setTimeout(() => {
    isDrawn = true;
    schedule();
  }, DRAWING);
  observe();
  return () => {
    clearTimeout(late);
    removeEventListener("resize", schedule);
    elements.disconnect();
    stop();
  };
}

// static/page/surroundings.js
var given = globalThis.mcpframeGiven ?? null;
var config = given ? given.config : JSON.parse(document.getElementById("mcpframe-boot").textContent);
var base = given ? given.base : document.baseURI;
function ofPage() {
  if (given) return given.ofPage;
  const meta = document.querySelector('meta[http-equiv="Content-Security-Policy"]');
  return { policy: meta?.getAttribute("content") ?? "", stores: hasStorage() };
}
function hasStorage() {
  try {
    return Boolean(globalThis.localStorage);
  } catch {
    return false;
  }
}
var absolute = (url) => new URL(url, base).href;
var addressOf = (file) => absolute(file.address ?? file.url);
function withResolvers() {
  let resolve, reject;
  const promise = new Promise((good, bad) => [resolve, reject] = [good, bad]);
  return { promise, resolve, reject };
}

// static/page/page.js
var element = (id) => (
  /** @type {any} */
  document.getElementById(`mcpframe-${id}`)
);
var sizes = /* @__PURE__ */ new Map();
var config2 = null;
var deadline = 0;
var finished = false;
var failed = false;
var stopped = false;
var restored = false;
var lastWords = null;
var stopTools = null;
var ticking = 0;
function settle() {
  clearTimeout(deadline);
  finished = true;
  element("progress").hidden = true;
}
function show(state) {
  element("page").dataset.state = state;
  giveWay();
}
function giveWay() {
  const over = element("app").hasChildNodes() && finished && !failed;
  const headed = over && element("app").querySelector("h1") !== null;
  element("page").hidden = headed;
  element("page").toggleAttribute("data-behind", over && !headed);
}
function showError(title, detail) {
  failed = true;
  giveWay();
  element("error").hidden = false;
  element("error-title").textContent = title;
  element("error-detail").textContent = detail || "";
  element("error-more").hidden = !detail;
  console.error(detail ? `${title}
${detail}` : title);
}
function sayLastWords() {
  globalThis.mcpframeInbox?.fail();
  if (!lastWords) return;
  const [message, target] = lastWords;
  lastWords = null;
  (parent === self ? opener : parent)?.postMessage(message, target);
}
function offerRestart() {
  const error = element("error");
  if (error.querySelector("button")) return;
  add(error, "button", "Restart", { type: "button" }).addEventListener("click", () => location.reload());
}
var STATES = {
  waiting: () => "Running. It waits for the page around it.",
  connected: (origin) => `Running. Its tools are used by ${origin}.`,
  "setting up": (origin) => `Being set up for ${origin}.`,
  "set up": (origin) => `Set up for ${origin}. This page can be closed.`,
  running: () => "Running."
};
var MARKS = {
  loader: "Loading",
  wasm: "wasm",
  unpacked: "unpacked",
  restored: "restored",
  files: "files",
  python: "python",
  libraries: "libraries",
  sdk: "Starting the server",
  ready: "ready"
};
function add(parent2, tag, text, attributes = {}) {
  const child = document.createElement(tag);
  if (text) child.textContent = text;
  for (const [name2, value] of Object.entries(attributes)) child.setAttribute(name2, value);
  parent2.append(child);
  return child;
}
var BRIDGES = /* @__PURE__ */ new Set(["*", "http://mcpframe-bridge.localhost"]);
function embedding(url) {
  return `<iframe src="${url}" title="${config2.title.replaceAll('"', "&quot;")}"></iframe>`;
}
function allowedIn(dialect) {
  const origins = config2.dialect_origins?.[dialect] ?? config2.allowed_origins;
  return config2.options?.allow_opaque ? [...origins, "null"] : origins;
}
function embedders(origins) {
  if (origins.includes("*")) return "Allowed: any page.";
  const words = { null: "sandboxed frames and files", self: "pages of this site" };
  const named = origins.map((origin) => words[origin] ?? origin);
  return `Allowed: ${[...new Set(named)].join(", ")}.`;
}
function inThisTab(ways) {
  const here = ways.filter(({ tab }) => tab);
  const works = ({ property }) => !property || property in document || property in navigator;
  const titles = here.filter(works).map(({ title }) => title);
  const can = titles.length ? `Agents in this browser, such as extensions, can use its tools: ${titles.join(" and ")}.` : "";
  const cannot = here.filter((way) => !works(way)).map(({ title }) => `This browser has no ${title}.`);
  return [can, ...cannot].filter(Boolean).join(" ");
}
var blocked = [];
var styleDropped = false;
function noteViolation({ effectiveDirective, blockedURI, timeStamp }) {
  if (effectiveDirective.startsWith("style-src") && blockedURI === "inline" && !styleDropped) {
    styleDropped = true;
    console.warn(
      "This page's policy drops inline styles, each with a line of the browser's own: use classes and a style sheet listed in styles of [tool.mcpframe], or set element.js.style in Python. This is said once."
    );
  }
  if (effectiveDirective === "connect-src") blocked.push({ url: blockedURI, at: timeStamp });
  if (blocked.length > 20) blocked.shift();
}
(globalThis.document ?? globalThis).addEventListener("securitypolicyviolation", noteViolation);
globalThis.mcpframeBlocked = (milliseconds) => blocked.filter(({ at }) => at > performance.now() - milliseconds).map(({ url }) => url);
var page = {
  /** Shows that the page starts, and starts the deadline; called once. */
  start(bootConfig) {
    config2 = bootConfig;
    element("stalled").hidden = true;
    if (config2.size) document.documentElement.setAttribute(FILLS, "page");
    show("booting");
    new MutationObserver(giveWay).observe(element("app"), { childList: true });
    deadline = setTimeout(() => {
      if (!finished) {
        page.fail(
          `The server did not start within ${config2.boot_timeout} seconds: check the network and reload the page, or raise boot_timeout in [tool.mcpframe].`,
          `Last step: ${element("status").textContent}`
        );
      }
    }, config2.boot_timeout * 1e3);
  },
  /** Adds files to those that the progress bar counts. */
  expect(files3) {
    for (const file of files3) sizes.set(file.url, { bytes: file.bytes, loaded: 0 });
  },
  /** Counts one of these files as loaded. */
  loaded(file) {
    const entry = sizes.get(file.url);
    if (!entry || finished) return;
    entry.loaded = entry.bytes;
    const all = [...sizes.values()];
    const part = (key) => all.reduce((sum, item) => sum + item[key], 0);
    element("progress").value = part("loaded") / part("bytes");
  },
  progress(text) {
    performance.mark(`mcpframe:${text}`);
    element("status").textContent = `${text} …`;
  },
  ready(info) {
    settle();
    performance.mark("mcpframe:ready");
    const { state, origin } = JSON.parse(info);
    failed = stopped = false;
    element("error").hidden = true;
    show("ready");
    element("status").textContent = STATES[state](origin);
  },
  /** Sets the message that the host gets if this page stops: JSON of a message and its target origin, or null. */
  at_end(info) {
    lastWords = JSON.parse(info);
  },
  /** Notes that Python was started from a snapshot. */
  isRestored() {
    restored = true;
  },
  /** Returns how this page has started, for its host, and whether it has storage: JSON, in ms since it began to load. */
  timing() {
    const marks = {};
    for (const [name2, mark] of Object.entries(MARKS)) {
      const at = performance.getEntriesByName(`mcpframe:${mark}`, "mark")[0]?.startTime;
      if (at !== void 0) marks[name2] = Math.round(at * 10) / 10;
    }
    return JSON.stringify({ start: restored ? "snapshot" : "plain", marks, stores: ofPage().stores });
  },
  fail(title, detail) {
    settle();
    if (stopped) return;
    stopped = true;
    sayLastWords();
    globalThis.mcpframeReport?.(title, detail ?? "", true);
    element("status").textContent = "Stopped";
    offerRestart();
    showError(title, detail);
    show("failed");
  },
  /** Shows an error that does not stop the server. */
  problem(title, detail) {
    globalThis.mcpframeReport?.(title, detail ?? "", false);
    showError(title, detail);
  },
  /** Sets the function that stops the server's tools while they compute in a worker. */
  offer_stop(stop) {
    stopTools = stop;
  },
  /** Shows that tools compute in the server's worker, with a button that stops them: JSON of their names, and seconds. */
  computing(info) {
    const { tools, seconds } = JSON.parse(info);
    clearInterval(ticking);
    const shown = element("computing");
    shown.hidden = !tools.length;
    if (!tools.length) return;
    const began = performance.now() - seconds * 1e3;
    const text = () => `${tools.join(", ")}: computing for ${Math.round((performance.now() - began) / 1e3)} s`;
    element("computing-text").textContent = text();
    ticking = setInterval(() => element("computing-text").textContent = text(), 1e3);
    element("stop").onclick = () => stopTools();
  },
  /** Starts Python in a worker: see `Workers.start`. Set by the loader where the server needs one. */
  start_worker: null,
  /** Imports one of the author's JavaScript modules, which Python cannot do itself. */
  async import_module(url) {
    const { href } = new URL(url, document.baseURI);
    try {
      return await import(href);
    } catch (error) {
      const answer = await fetch(href, { method: "HEAD", cache: "no-store" }).catch(() => null);
      if (!answer || answer.ok) throw error;
      throw new Error(missing(url, answer.status), { cause: error });
    }
  },
  async standalone() {
    settle();
    show("standalone");
    const about = element("about");
    about.hidden = false;
    const offered = config2.ways ?? [];
    const hosts = offered.filter((way) => way.hosts && allowedIn(way.dialect).length);
    const serves = hosts.length ? "the page that embeds it" : "this tab";
    element("status").textContent = `This page is an MCP server: it serves ${serves}.`;
    if (config2.inspector && hosts.length) {
      const inspector = new URL(config2.inspector, document.baseURI);
      inspector.hash = new URLSearchParams({ add: location.href.split("#")[0] }).toString();
      add(add(about, "p", ""), "a", "Try it in the inspector", { href: inspector.href });
    }
    const here = inThisTab(offered);
    if (here) {
      add(about, "h2", "In this tab");
      add(about, "p", here);
    }
    if (hosts.length) {
      add(about, "h2", "Embed it");
      const address = location.href.split("#")[0];
      if (location.protocol === "file:") {
        add(about, "p", "Put this file on a web server: pages frame its address there.");
      } else {
        add(about, "p", "A page frames it:");
        add(add(about, "pre", ""), "code", embedding(address));
      }
      if (hosts.some(({ dialect, commands }) => commands && allowedIn(dialect).some((origin) => BRIDGES.has(origin)))) {
        add(about, "p", "An MCP client such as Claude Desktop runs it in a browser of its own:");
        add(add(about, "pre", ""), "code", `pip install mcpframe
mcpframe install ${address}`);
      }
      const lists = new Set(hosts.map(({ dialect }) => embedders(allowedIn(dialect))));
      if (lists.size === 1) add(about, "p", ...lists);
      const ways = add(about, "ul", "");
      for (const { dialect, hosts: text } of hosts) {
        const way = add(ways, "li", `${text}.`);
        if (lists.size > 1) add(way, "p", embedders(allowedIn(dialect)));
      }
    }
    const response = await fetch(addressOf(config2.manifest ?? { url: "manifest.json" }), { credentials: "omit" }).catch(
      () => null
    );
    const { tools } = response?.ok ? await response.json() : {};
    if (!tools?.length) return;
    add(about, "h2", tools.length === 1 ? "Its tool" : `Its ${tools.length} tools`);
    const list = add(about, "dl", "");
    for (const tool of tools) {
      add(add(list, "dt", ""), "code", tool.name);
      add(list, "dd", tool.description ?? tool.title ?? "");
    }
  }
};

// static/page/remembered.js
var keyOf = ({ url, name: name2 }) => `mcpframe snapshot ${new URL(".", new URL(url, document.baseURI)).pathname}${name2}`;
var GZIPPED = 0.29;
function isChosen(files3) {
  return Boolean(files3.snapshot) && (Boolean(files3.wasm.address) || !isSlow() || ofSnapshot(files3) <= ofArchives(files3, "all"));
}
var bytesOf = (files3) => files3.reduce((sum, { bytes: bytes2 }) => sum + bytes2, 0);
function ofSnapshot(files3) {
  const { layers, decoder, files: which } = files3.snapshot;
  const missing2 = layers.filter((layer) => !isRemembered(layer));
  return bytesOf(missing2) + (missing2.length === layers.length ? decoder.bytes : 0) + ofArchives(files3, which);
}
function ofArchives(files3, which) {
  const { deferred, wasm, libraries } = files3;
  const fetched = archivesAtStart(files3, which);
  if (which === "all" && deferred.atStart) fetched.push(deferred);
  if (which !== "none") fetched.push(...[wasm, ...libraries].flatMap(({ second }) => second ?? []));
  return GZIPPED * bytesOf(fetched);
}
function isSlow() {
  const line = navigator.connection;
  return Boolean(line?.saveData || ["slow-2g", "2g", "3g"].includes(line?.effectiveType));
}
function isRemembered(layer) {
  try {
    return localStorage.getItem(keyOf(layer)) === layer.integrity;
  } catch {
    return false;
  }
}
function remember(layer) {
  try {
    if (!isRemembered(layer)) localStorage.setItem(keyOf(layer), layer.integrity);
  } catch {
    return;
  }
}

// static/page/layer-content.js
function contentOf(bytes2) {
  let at = 4 + new DataView(bytes2.buffer, bytes2.byteOffset).getUint32(0, true);
  const meta = JSON.parse(new TextDecoder().decode(bytes2.subarray(4, at)));
  const runs = meta.runs.map((size) => {
    const numbers = new Uint32Array(size);
    const end = at + size;
    let count = 0;
    for (let shift = 0; at < end; at += 1) {
      numbers[count] |= (bytes2[at] & 127) << shift;
      shift += 7;
      if (bytes2[at] > 127) continue;
      count += 1;
      shift = 0;
    }
    return numbers.subarray(0, count);
  });
  return { ...meta, runs, parts: new Uint32Array(bytes2.buffer, bytes2.byteOffset + at, bytes2.length - at >>> 2) };
}

// static/page/zstd.js
async function decompress(decoder, arriving, length, size) {
  const BUFFER = 12;
  const DAMAGED = "it is damaged, or not as long as it was";
  const { exports } = (
    /** @type {any} */
    await WebAssembly.instantiate(decoder, { env: { emscripten_notify_memory_growth: () => {
    } } })
  );
  const [context, from, to, buffers] = [exports.ZSTD_createDCtx(), ...[length, size, 2 * BUFFER].map(exports.malloc)];
  if (!context || !from || !to || !buffers) throw new Error("there is too little memory to unpack it");
  const [input, output] = [buffers, buffers + BUFFER];
  const words = (at) => new Uint32Array(exports.memory.buffer, at, BUFFER / 4);
  words(input).set([from, 0, 0]);
  words(output).set([to, size, 0]);
  let left = 1;
  const reader = arriving.getReader();
  for (let arrived = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    if (arrived + value.length > length) throw new Error(DAMAGED);
    new Uint8Array(exports.memory.buffer, from).set(value, arrived);
    arrived += value.length;
    words(input)[1] = arrived;
    left = exports.ZSTD_decompressStream(context, output, input);
    if (left < 0) throw new Error(DAMAGED);
  }
  if (left !== 0 || words(input)[2] !== length || words(output)[2] !== size) throw new Error(DAMAGED);
  return {
    packed: new Uint8Array(exports.memory.buffer, from, length),
    unpacked: new Uint8Array(exports.memory.buffer, to, size)
  };
}

// static/page/unpack-worker.js
var PATIENCE = 5e3;
function unpackAll(unpackOne, readContent) {
  const get2 = async (url, integrity = "") => {
    const response = await fetch(url, { credentials: "same-origin", integrity });
    if (!response.ok) throw new Error(`${url} is missing`);
    return response;
  };
  const hash = async (data) => {
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
    return `sha256-${btoa(String.fromCharCode(...digest))}`;
  };
  const post = (
    /** @type {(data: object, transfer?: Transferable[]) => void} */
    globalThis.postMessage
  );
  addEventListener("message", async ({ data: { layers, decoder } }) => {
    try {
      const compiled = WebAssembly.compileStreaming(get2(decoder));
      compiled.catch(() => {
      });
      const one = async ({ url, integrity, bytes: bytes2, unpacked: size }, number2) => {
        const response = await get2(url, crypto.subtle ? "" : integrity);
        const { packed, unpacked } = await unpackOne(await compiled, response.body, bytes2, size);
        const hashed = crypto.subtle ? hash(packed) : integrity;
        const copy = unpacked.slice();
        const content = readContent(copy);
        post({ number: number2, layer: { bytes: copy, content } }, [copy.buffer, ...content.runs.map(({ buffer }) => buffer)]);
        post({ number: number2, hash: await hashed });
      };
      await Promise.all(layers.map(one));
    } catch (error) {
      post({ error: String(error) });
    }
  });
  post({ begun: true });
}
function allowsWorker() {
  const meta = document.querySelector('meta[http-equiv="Content-Security-Policy"]');
  return /worker-src[^;]* blob:/.test(meta?.getAttribute("content"));
}
async function unpackInWorker({ layers, decoder }) {
  const absolute2 = ({ address: address2, url }) => new URL(address2 ?? url, document.baseURI).href;
  const program2 = new Blob([`(${unpackAll})(${decompress}, ${contentOf});`], { type: "text/javascript" });
  const address = URL.createObjectURL(program2);
  const worker = new Worker(address, { name: "mcpframe: unpacks a snapshot" });
  worker.postMessage({
    layers: layers.map((layer) => ({ ...layer, url: absolute2(layer), references: null })),
    decoder: absolute2(decoder)
  });
  const hashed = layers.map(({ integrity }) => {
    let settle3;
    const checked = new Promise((right, wrong) => {
      settle3 = (hash) => hash === integrity ? right() : wrong(new Error("its hash is wrong"));
    });
    return { checked, settle: settle3 };
  });
  Promise.all(hashed.map(({ checked }) => checked)).then(
    () => worker.terminate(),
    () => {
    }
    // reported by those who await it
  );
  return new Promise((resolve, reject) => {
    const unpacked = layers.map(() => null);
    const fail = (reason) => {
      worker.terminate();
      reject(new Error(reason));
      for (const { settle: settle3 } of hashed) settle3(null);
    };
    const timer = setTimeout(fail, PATIENCE, "its worker does not begin");
    worker.onerror = (event) => {
      event.preventDefault();
      fail(event.message || "there is no worker for it");
    };
    worker.onmessage = ({ data: { begun, error, number: number2, layer, hash } }) => {
      clearTimeout(timer);
      if (begun) URL.revokeObjectURL(address);
      else if (error) fail(error);
      else if (layer) unpacked[number2] = { ...layer, checked: hashed[number2].checked };
      else hashed[number2].settle(hash);
      if (unpacked.every(Boolean)) resolve(unpacked);
    };
  });
}

// static/page/fetch-layers.js
async function verify(data, integrity) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
  if (integrity !== `sha256-${btoa(String.fromCharCode(...digest))}`) throw new Error("its hash is wrong");
}
async function fetchSnapshot(file, get2, compile2, loaded) {
  const begun = globalThis.mcpframeUnpacking ?? (allowsWorker() && unpackInWorker(file));
  delete globalThis.mcpframeUnpacking;
  const layers = await Promise.resolve(begun).catch(() => null);
  if (!layers) return fetchHere(file, get2, compile2);
  for (const each of [...file.layers, file.decoder]) loaded(each);
  layers.forEach(({ checked }, number2) => {
    checked.then(
      () => remember(file.layers[number2]),
      () => {
      }
      // reported by `fill`
    );
  });
  return layers;
}
function fetchHere(file, get2, compile2) {
  const decoder = compile2(file.decoder);
  decoder.catch(() => {
  });
  return Promise.all(file.layers.map((layer) => fetchLayer(layer, decoder, get2)));
}
async function fetchLayer(file, decoder, get2) {
  const response = await get2(crypto.subtle ? { ...file, integrity: null } : file);
  try {
    const { packed, unpacked } = await decompress(await decoder, response.body, file.bytes, file.unpacked);
    const isRight = crypto.subtle ? verify(packed, file.integrity) : Promise.resolve();
    const checked = isRight.then(() => remember(file));
    checked.catch(() => {
    });
    return { bytes: unpacked, checked };
  } catch (error) {
    await get2(file);
    throw error;
  }
}

// static/page/worker-page.js
var workerPage = {
  /** Sends the page's Python a text. */
  post: (text) => postMessage(text),
  /** Calls `take` with each text of the page's Python, those that came before included. */
  listen(take) {
    for (const text of given.came.splice(0)) take(text);
    given.came.push = take;
  },
  /** Whether this worker has the server, or functions to run. */
  kind: given?.kind,
  /** Whether the page has storage; a worker cannot see it by itself. */
  is_kept: given?.ofPage.stores,
  /** Starts Python in a worker of this worker; see page.js. */
  start_worker: null,
  start() {
  },
  expect() {
  },
  loaded() {
  },
  isRestored() {
  },
  progress(text) {
    performance.mark(`mcpframe:${text}`);
  },
  /** Reports that this Python has ended, or cannot start. */
  fail(title, detail) {
    postMessage({ title, detail: detail || "" });
  }
};

// static/page/worker-program.js
var BEGUN = '["begun"]\n';
var PIXEL = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
var LIFE = `
postMessage({
  life: URL.createObjectURL(new Blob([Uint8Array.from(atob("${PIXEL}"), (each) => each.charCodeAt(0))], { type: "image/gif" })),
});
`;
var LISTENING = `
postMessage(${JSON.stringify(BEGUN)});
const came = [];
const give = {};
const arrives = (name) => new Promise((resolve) => (give[name] = resolve));
addEventListener("message", ({ data }) => {
  if (typeof data === "string") came.push(data);
  else if (data.config) {
    globalThis.mcpframeGiven = { ...data, compiled: arrives("compiled"), image: arrives("image"), came };
    try {
      load();
    } catch (error) {
      postMessage({ title: String(error) });
    }
  } else for (const name in data) give[name](data[name]);
});
`;
function workerProgram(scripts2) {
  const load = ['const load = (function () {"use strict";\n', scripts2.at(-1), "\n});\n"];
  return new Blob([LIFE, LISTENING, ...scripts2.slice(0, -1), ...load], { type: "text/javascript" });
}

// static/page/bundle-files.js
var files = config.files;
var page2 = given ? workerPage : page;
var fetchFile = globalThis.fetch.bind(globalThis);
var compiling = globalThis.mcpframeCompiling ?? {};
var BootError = class extends Error {
  constructor(title, detail = "") {
    super(title);
    this.detail = detail;
  }
};
async function requireWebAssembly() {
  if (typeof WebAssembly !== "object") {
    throw new BootError(
      "This browser has no WebAssembly, which the server needs: use a current browser, or switch WebAssembly on (some browsers switch it off in their strictest security mode)."
    );
  }
  try {
    await WebAssembly.compile(emptyModule());
  } catch (error) {
    throw new BootError(
      new URL(absolute(files.wasm.url)).origin !== location.origin ? "The host of this view does not allow WebAssembly, which the view needs: its Content Security Policy has no 'wasm-unsafe-eval'." : "WebAssembly is blocked by this page's Content Security Policy: its script-src needs 'wasm-unsafe-eval'. Send the headers that were built with the page (_headers, .htaccess, …), or none of your own.",
      String(error)
    );
  }
}
async function get(file, started = null) {
  const url = addressOf(file);
  const options = { credentials: "same-origin" };
  let response;
  try {
    response = await (started ?? fetchFile(url, { ...options, integrity: file.integrity ?? "" }));
  } catch (error) {
    throw await unreachable(file, url, options, error);
  }
  if (!response.ok) {
    throw new BootError(missing(file.url, response.status));
  }
  page2.loaded(file);
  return response;
}
async function unreachable(file, url, options, error) {
  if (file.address) return new BootError(changed(file), String(error));
  const again = await fetchFile(url, { ...options, method: "HEAD", cache: "no-store" }).catch(() => null);
  if (again?.ok) {
    return new BootError(
      `${file.url} is not the file that was built (its hash is wrong): upload the whole folder again, unchanged.`,
      String(error)
    );
  }
  return new BootError(
    again ? missing(file.url, again.status) : `${file.url} could not be fetched: check the network, and that the web server sends Access-Control-Allow-Origin: * where the frame is sandboxed.`,
    String(error)
  );
}
var scripts = /* @__PURE__ */ new Map();
function script(file, name2) {
  if (!given && !scripts.has(name2)) scripts.set(name2, run(file, name2));
  return Promise.resolve(scripts.get(name2)).then(() => globalThis[name2]);
}
var changed = ({ url }) => `${url} in this page is not the file that was built: build the page again.`;
async function run(file, name2) {
  const { url, integrity, address } = file;
  const element2 = document.createElement("script");
  if (address) {
    element2.textContent = await (await get({ ...file, integrity: null })).text();
    document.head.append(element2);
    if (!globalThis[name2]) throw new BootError(changed(file));
    return;
  }
  Object.assign(element2, { crossOrigin: "anonymous", integrity, src: absolute(url) });
  await new Promise((done, failed2) => {
    element2.onload = done;
    element2.onerror = () => failed2(
      new BootError(`${url} is missing or is not the file that was built: upload the whole folder again, unchanged.`)
    );
    document.head.append(element2);
  });
}
async function program() {
  if (given) return given.program;
  const texts = [files.pyodide, files.asm, files.loader].map(async (file) => (await get(file)).blob());
  return workerProgram(await Promise.all(texts));
}
var bytes = async (file) => new Uint8Array(await (await get(file)).arrayBuffer());
async function bytesInBackground(file) {
  if (!crypto.subtle) return bytes(file);
  const data = await bytes({ ...file, integrity: null });
  await verify(data, file.integrity);
  return data;
}
async function compile(file) {
  const done = given && (await given.compiled).get(file.url);
  if (done) return done;
  await requireWebAssembly();
  const unchecked = file.address ? file : { ...file, integrity: null };
  const prefetched = compiling[file.url];
  delete compiling[file.url];
  const response = await get(unchecked, prefetched?.response);
  try {
    return await (prefetched?.module ?? WebAssembly.compileStreaming(response));
  } catch (error) {
    const module = await bytes(unchecked).then((data) => WebAssembly.compile(data)).catch(() => null);
    if (module) {
      console.warn(`${file.url} is not sent as application/wasm, which makes this page start slower.`);
      return module;
    }
    await get(file);
    throw new BootError("This browser cannot run the server's WebAssembly: use a current browser.", String(error));
  }
}

// static/page/sha256.js
var fraction = (value) => (value - Math.floor(value)) * 2 ** 32 | 0;
var PRIMES = Array.from({ length: 311 }, (_, i) => i + 2).filter((n) => {
  for (let d = 2; d * d <= n; d += 1) if (n % d === 0) return false;
  return true;
});
var K = Int32Array.from(PRIMES.slice(0, 64), (prime) => fraction(Math.cbrt(prime)));
var START = PRIMES.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
function sha256(bytes2) {
  const state = Int32Array.from(START);
  const words = new Int32Array(64);
  const whole = bytes2.length - bytes2.length % 64;
  const view = new DataView(bytes2.buffer, bytes2.byteOffset, bytes2.byteLength);
  for (let at = 0; at < whole; at += 64) block(state, words, view, at);
  const tail = new Uint8Array(bytes2.length % 64 < 56 ? 64 : 128);
  tail.set(bytes2.subarray(whole));
  tail[bytes2.length % 64] = 128;
  const end = new DataView(tail.buffer);
  end.setUint32(tail.length - 8, Math.floor(bytes2.length / 2 ** 29));
  end.setUint32(tail.length - 4, bytes2.length << 3 >>> 0);
  for (let at = 0; at < tail.length; at += 64) block(state, words, end, at);
  const hash = new DataView(new ArrayBuffer(32));
  for (const [i, word] of state.entries()) hash.setInt32(i * 4, word);
  return new Uint8Array(hash.buffer);
}
function block(state, w, view, at) {
  for (let i = 0; i < 16; i += 1) w[i] = view.getInt32(at + i * 4);
  for (let i = 16; i < 64; i += 1) {
    const x = w[i - 15];
    const y = w[i - 2];
    const s0 = (x >>> 7 | x << 25) ^ (x >>> 18 | x << 14) ^ x >>> 3;
    const s1 = (y >>> 17 | y << 15) ^ (y >>> 19 | y << 13) ^ y >>> 10;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1 | 0;
  }
  let a = state[0];
  let b = state[1];
  let c = state[2];
  let d = state[3];
  let e = state[4];
  let f = state[5];
  let g = state[6];
  let h = state[7];
  for (let i = 0; i < 64; i += 1) {
    const s1 = (e >>> 6 | e << 26) ^ (e >>> 11 | e << 21) ^ (e >>> 25 | e << 7);
    const t1 = h + s1 + (e & f ^ ~e & g) + K[i] + w[i] | 0;
    const s0 = (a >>> 2 | a << 30) ^ (a >>> 13 | a << 19) ^ (a >>> 22 | a << 10);
    const t2 = s0 + (a & b ^ a & c ^ b & c) | 0;
    h = g;
    g = f;
    f = e;
    e = d + t1 | 0;
    d = c;
    c = b;
    b = a;
    a = t1 + t2 | 0;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
  state[5] += f;
  state[6] += g;
  state[7] += h;
}

// static/page/fetch-now.js
function fetchNow(url, file) {
  const tellPage = (text) => given?.kind === "server" && postMessage(`["${text}"]
`);
  tellPage("fetches");
  try {
    return read(url, file);
  } finally {
    tellPage("fetched");
  }
}
function read(url, file) {
  const request = new XMLHttpRequest();
  let problem = `${url} could not be fetched: check the network.`;
  try {
    request.open("GET", url, false);
    request.overrideMimeType("text/plain; charset=x-user-defined");
    request.send();
    if (request.status === 200) {
      const text = request.responseText;
      const data = new Uint8Array(text.length);
      for (let at = 0; at < text.length; at += 1) data[at] = text.charCodeAt(at);
      if (`sha256-${btoa(String.fromCharCode(...sha256(data)))}` === file.integrity) return data;
      problem = `${url} is not the file that was built (its hash is wrong): upload the whole folder again.`;
    } else {
      problem = missing(url, request.status);
    }
  } catch (error) {
    console.error(error);
  }
  console.error(problem);
  throw new Error(problem);
}

// static/page/read-now.js
var python = null;
function readFor(module) {
  python = module;
}
function readNow(url, file, FS) {
  const lock = python?._PyGILState_Ensure();
  try {
    return fetchNow(url, file);
  } catch (error) {
    page2.problem?.(error.message);
    throw new FS.ErrnoError(29);
  } finally {
    python?._PyGILState_Release(lock);
  }
}

// static/page/deferred-modules.js
var DeferredModules = class {
  /** `file`: the archive's entry in the boot config, with `integrity`, `bytes`, and `to`, the folder it is for. */
  constructor(url, file) {
    this.url = url;
    this.file = file;
    this.index = [];
    this.nodes = [];
  }
  /** Creates all files in their folders, with their content if the archive is given. */
  place(FS, archive = null) {
    const folders = /* @__PURE__ */ new Map();
    for (const [path, offset, size] of this.index) {
      const cut = path.lastIndexOf("/");
      const folder = `${this.file.to}/${path.slice(0, cut)}`;
      if (!folders.has(folder)) {
        FS.mkdirTree(folder);
        folders.set(folder, FS.lookupPath(folder).node);
      }
      const node = FS.mknod(`${folder}/${path.slice(cut + 1)}`, 33188, 0);
      node.usedBytes = size;
      if (archive) node.contents = archive.subarray(offset, offset + size);
      else this.#fillOnRead(FS, node, offset, size);
    }
  }
  #fillOnRead(FS, node, offset, size) {
    this.nodes.push([node, offset, size]);
    Object.defineProperty(node, "contents", {
      configurable: true,
      enumerable: true,
      get: () => {
        this.#fill(FS);
        return node.contents;
      },
      set: (value) => Object.defineProperty(node, "contents", { value, configurable: true, enumerable: true, writable: true })
    });
  }
  /** Fetches the content in the background. */
  async come(fetchBytes) {
    if (this.nodes.length) this.#put(await fetchBytes(this.file));
  }
  #fill(FS) {
    this.#put(readNow(this.url, this.file, FS));
  }
  #put(archive) {
    for (const [node, offset, size] of this.nodes) {
      const value = archive.subarray(offset, offset + size);
      if (Object.getOwnPropertyDescriptor(node, "contents").get) {
        Object.defineProperty(node, "contents", { value, configurable: true, enumerable: true, writable: true });
      }
    }
    this.nodes = [];
  }
};

// static/page/restore.js
var MAGIC = 1886286592;
var HEADER = 48;
var unused = (reason) => `The snapshot of this page is not used (${reason}); it starts without it.`;
function fetchForNextTime({ snapshot }, fetchBytes) {
  if (!snapshot || navigator.connection?.saveData) return;
  whenQuiet(async () => {
    await Promise.all([...snapshot.layers, snapshot.decoder].map(fetchBytes));
    snapshot.layers.forEach(remember);
  });
}
var QUIET = 2e3;
var IDLE_OPTIONS = { timeout: 3e3 };
function whenQuiet(act) {
  const idle = globalThis.requestIdleCallback ?? /** @type {any} */
  ((run2) => run2());
  setTimeout(() => idle(() => act().catch((error) => console.debug(error)), IDLE_OPTIONS), QUIET);
}
var Snapshot = class {
  #layers = [];
  /**
   * @param file the snapshot's entry in the boot config
   * @param {Promise<Layer[] | null>} fetched see `fetchSnapshot`
   */
  constructor(file, fetched) {
    this.file = file;
    this.arrived = this.#read(fetched);
    this.arrived.catch(() => {
    });
  }
  async #read(fetched) {
    const layers = await fetched;
    if (!layers) throw new Error("the page has not used it");
    performance.mark("mcpframe:unpacked");
    this.#layers = layers.map(({ bytes: bytes2, content = contentOf(bytes2), checked }) => ({ ...content, checked }));
  }
  /** Returns a snapshot in Pyodide's format, but without its memory, which `fill` writes once it has arrived. */
  head() {
    const text = new TextEncoder().encode(JSON.stringify(this.file.layers.at(-1).references));
    const head = new Uint8Array(Math.ceil((HEADER + text.length) / 16) * 16);
    const words = new Uint32Array(head.buffer);
    words.set([MAGIC, head.length, text.length, 0]);
    for (let word = 0; word < 8; word += 1) {
      words[4 + word] = parseInt(this.file.build.slice(word * 8, word * 8 + 8), 16);
    }
    head.set(text, HEADER);
    return head;
  }
  /** Writes the snapshot into memory, except for what is there already. */
  async fill(module) {
    await this.arrived;
    const { memory } = this.#layers.at(-1);
    let used = module.HEAPU8.length;
    if (used < memory) module.growMemory(memory);
    if (module.HEAPU8.length !== memory) throw new Error("it is of another size of memory");
    for (const layer of this.#layers) {
      if (module.wasmTable.length !== layer.table)
        throw new Error(`its table has ${layer.table} entries, not ${module.wasmTable.length}`);
      const sum = place(layer, module.HEAPU32, used >>> 2);
      if (layer.links) link(module.HEAPU32, layer.links);
      await layer.checked;
      if (layer.check !== void 0 && sum !== layer.check)
        throw new Error("memory at the start is different in this browser");
      used = layer.memory;
    }
    this.#layers = [];
    const names = module._tzname >>> 2;
    module.__tzset_js(module._timezone, module._daylight, module.HEAPU32[names], module.HEAPU32[names + 1]);
    performance.mark("mcpframe:restored");
  }
  /** Returns what is different for each visitor, for after_restore.py. */
  visitor() {
    const year = (/* @__PURE__ */ new Date()).getFullYear();
    return {
      language: `${(navigator.language ?? "C").replace("-", "_")}.UTF-8`,
      agent: navigator.userAgent,
      zones: [new Date(year, 0, 1), new Date(year, 6, 1)].map((date) => date.getTimezoneOffset()),
      paths: this.file.paths
    };
  }
};
var FEW = 32;
function place({ runs: [same, own, zeros, part], parts, check }, words, used) {
  let at = 0;
  let placed = 0;
  let sum = 0;
  for (let run2 = 0; run2 < part.length; run2 += 1) {
    if (check !== void 0) sum = checksum(words, at, at + same[run2], sum);
    at += same[run2] + own[run2];
    if (at < used) words.fill(0, at, Math.min(at + zeros[run2], used));
    at += zeros[run2];
    const end = placed + part[run2];
    if (part[run2] > FEW) words.set(parts.subarray(placed, end), at);
    else for (let index = 0; index < part[run2]; index += 1) words[at + index] = parts[placed + index];
    at += part[run2];
    placed = end;
  }
  return sum >>> 0;
}
var FLAGS = 3;
function link(words, first) {
  let at = first;
  do {
    const word = words[at >>> 2];
    const following = at + ((word & ~FLAGS) >>> 0);
    const isLast = following === at || following >= words.byteLength;
    const next = isLast ? first : following;
    words[at >>> 2] = next | word & FLAGS;
    words[(next >>> 2) + 1] |= at;
    at = next;
  } while (at !== first);
}
function checksum(words, from, to, sum) {
  for (let word = from; word < to; word += 1) sum = Math.imul(sum ^ words[word], 16777619);
  return sum;
}

// static/page/unzip.js
function* stored(zip) {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength);
  const text = new TextDecoder();
  let end = zip.length - 22;
  while (end >= 0 && view.getUint32(end, true) !== 101010256) end -= 1;
  if (end < 0) throw new Error("An archive of this page is damaged: upload the whole folder that was built.");
  let at = view.getUint32(end + 16, true);
  for (let count = view.getUint16(end + 10, true); count > 0; count -= 1) {
    const size = view.getUint32(at + 24, true);
    const nameLength = view.getUint16(at + 28, true);
    const header = view.getUint32(at + 42, true);
    const start2 = header + 30 + view.getUint16(header + 26, true) + view.getUint16(header + 28, true);
    yield [text.decode(zip.subarray(at + 46, at + 46 + nameLength)), zip.subarray(start2, start2 + size)];
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
}
var DEFERRED_INDEX = "deferred-index.json";
function unpack(FS, zip, to, deferred) {
  const known = /* @__PURE__ */ new Set([to]);
  FS.mkdirTree(to);
  for (const [name2, content] of stored(zip)) {
    if (name2 === DEFERRED_INDEX) {
      deferred.index = JSON.parse(new TextDecoder().decode(content));
      continue;
    }
    const path = `${to}/${name2}`;
    const folder = path.slice(0, path.lastIndexOf("/"));
    if (!known.has(folder)) {
      FS.mkdirTree(folder);
      known.add(folder);
    }
    FS.writeFile(path, content, { canOwn: true });
  }
}
function settle2(FS, archives) {
  for (const { to } of archives) FS.utime(to, 0, 0);
}

// static/page/background-files.js
var BackgroundFiles = class {
  #hooked = /* @__PURE__ */ new Map();
  #there = /* @__PURE__ */ new Set();
  #deferred = [];
  /**
   * @param files `files` of the boot config
   * @param addressOf returns the address of a file
   * @param fetchBytes fetches a file and checks its hash
   */
  constructor(files3, addressOf2, fetchBytes) {
    this.files = files3;
    this.addressOf = addressOf2;
    this.fetchBytes = fetchBytes;
  }
  /**
   * Starts fetching what the server's module needs when it is imported.
   * @param which see `archivesAtStart`; "all" includes the deferred modules
   * @param fetchBytes fetches a file and checks its hash
   */
  async expect(which, fetchBytes) {
    const needed = archivesAtStart(this.files, which);
    const fetched = this.files.archives.map((file) => needed.includes(file) ? fetchBytes(file) : null);
    const deferred = which === "all" && this.files.deferred.atStart ? fetchBytes(this.files.deferred) : null;
    return { archives: await Promise.all(fetched), deferred: await deferred };
  }
  /** Writes the archives that have arrived. The folders of the others are filled when a file in them is looked up. */
  place(FS, { archives, deferred }) {
    this.FS = FS;
    this.#fill(archives, deferred);
    const waiting = this.files.archives.filter((file) => !this.#there.has(file));
    const nodes = waiting.map(({ to }) => FS.lookupPath(to).node);
    const isFirst = (file) => waiting.find(({ to }) => to === file.to) === file;
    for (const [index, file] of waiting.entries()) if (isFirst(file)) this.#hook(FS, file, nodes[index]);
  }
  #hook(FS, file, node) {
    const original = node.node_ops;
    const filled = (name2) => (...args) => {
      this.fillNow(file, name2);
      return original[name2](...args);
    };
    const hooked = Object.fromEntries(
      ["mknod", "rename", "unlink", "rmdir", "readdir", "symlink"].map((name2) => [name2, filled(name2)])
    );
    hooked.lookup = (parent2, name2) => {
      this.fillNow(file, name2);
      return FS.lookupNode(parent2, name2);
    };
    node.node_ops = { ...original, ...hooked };
    this.#hooked.set(file, () => {
      node.node_ops = original;
    });
  }
  /**
   * Fetches the remaining files once the page is quiet, unless the browser is set to save data.
   * Large packages are fetched only when they are read. A program that drives the browser, such as mcpframe's bridge, can
   * call `mcpframeComplete()` to have all fetched at once, including the deferred modules.
   * @param {() => Promise<any>} others fetches what the page needs besides files
   */
  fetchInBackground(others) {
    if (navigator.connection?.saveData) return;
    let coming;
    const files3 = this.files.archives.filter(({ apart }) => !apart);
    const come = () => coming ??= Promise.all([others(), this.#come(files3)]);
    globalThis.mcpframeComplete = async () => {
      await come();
      await this.#come(this.files.archives);
      await Promise.all(this.#deferred.map((modules) => modules.come(this.fetchBytes)));
    };
    whenQuiet(come);
  }
  async #come(files3) {
    const missing2 = files3.filter((file) => !this.#there.has(file));
    this.#finish(missing2, await Promise.all(missing2.map(this.fetchBytes)));
  }
  /** Fetches an archive synchronously, while Python waits; with it all others that are not apart. */
  fillNow(file, wanted) {
    if (this.#there.has(file)) return;
    performance.mark(`mcpframe:files for ${wanted}`);
    const together = this.files.archives.filter((each) => !this.#there.has(each) && !each.apart);
    const missing2 = file.apart ? [file] : together;
    this.#finish(
      missing2,
      missing2.map((each) => readNow(this.addressOf(each), each, this.FS))
    );
  }
  /** Writes archives that have arrived, except those that a synchronous request has brought meanwhile. */
  #finish(files3, archives) {
    const arrived = new Map(files3.map((file, index) => [file, this.#there.has(file) ? null : archives[index]]));
    for (const file of files3) this.#hooked.get(file)?.();
    this.#fill(
      this.files.archives.map((file) => arrived.get(file) ?? null),
      null
    );
  }
  #fill(archives, deferredArchive) {
    const deferred = new DeferredModules(this.addressOf(this.files.deferred), this.files.deferred);
    this.files.archives.forEach((file, index) => {
      this.FS.mkdirTree(file.to);
      if (!archives[index]) return;
      this.#there.add(file);
      unpack(this.FS, archives[index], file.to, deferred);
    });
    deferred.place(this.FS, deferredArchive);
    this.#deferred.push(deferred);
    settle2(this.FS, this.files.archives);
  }
};

// static/page/ending.js
var TURNS = 10;
var TURN = 500;
var Ending = class {
  #ended;
  #over = false;
  #asking = false;
  /** @param ended is called with a message for the user and with details */
  constructor(ended) {
    this.#ended = ended;
  }
  /** Watches Pyodide; called once its code has loaded. */
  watch(api) {
    const fatal = api.fatal_error;
    api.fatal_error = (error) => {
      try {
        return fatal(error);
      } catch (thrown) {
        if (thrown?.pyodide_fatal_error) this.#end(reasonOf(thrown), thrown.status === void 0 ? thrown.stack : "");
        throw thrown;
      }
    };
  }
  /**
   * Watches for uncaught errors.
   * @param serving a promise that is settled when Python has ended as it should
   * @param ask asks Python whether it serves; returns a promise of true if it does
   */
  watchErrors(serving, ask) {
    let served = false;
    const over = () => served = true;
    serving.then(over, over);
    const look = async () => {
      if (this.#asking || this.#over || served) return;
      this.#asking = true;
      const serves = await Promise.race([
        Promise.resolve().then(ask).catch(() => false),
        silence()
      ]);
      this.#asking = false;
      if (!serves && !served) this.#end("it does not answer any more", "");
    };
    addEventListener("error", look);
    addEventListener("unhandledrejection", look);
  }
  #end(reason, detail) {
    if (this.#over) return;
    this.#over = true;
    addEventListener("message", (event) => event.stopImmediatePropagation(), true);
    this.#ended(`Python has ended (${reason}): restart this page.`, detail);
  }
};
async function silence() {
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setTimeout(resolve, TURN));
  return false;
}
function reasonOf({ message, status }) {
  if (status !== void 0) return `exit status ${status}`;
  if (message === "unreachable") return "it was aborted";
  return message || "a fatal error";
}

// static/page/second-files.js
var SHARED = "mcpframe:";
var DATA = "mcpframe:data";
var LOADER = 0;
var SecondFiles = class {
  #waiting = /* @__PURE__ */ new Map();
  // from the entry of a second file to the function that links it
  bases = /* @__PURE__ */ new Map();
  // from the address of a second file to where the data of its module begins
  /**
   * Keeps what a first file, just linked, exports for its second.
   * @param file its entry in the boot config
   * @param {WebAssembly.Exports} exports
   * @param {WebAssembly.Imports} imports
   * @returns {WebAssembly.Exports} what it exports for Emscripten
   */
  expect({ second }, exports, imports) {
    if (!second) return exports;
    const entries = Object.entries(exports);
    const mcpframe = Object.fromEntries(entries.filter(([name2]) => name2.startsWith(SHARED)));
    const { "mcpframe:table": table, "mcpframe:loaded": loaded } = (
      /** @type {any} */
      mcpframe
    );
    const { env } = (
      /** @type {any} */
      imports
    );
    const [memory, base2] = exports.memory ? [exports.memory, 0] : [env.memory, env.__memory_base];
    this.bases.set(second.url, base2);
    this.#waiting.set(second, (module) => {
      for (const data of WebAssembly.Module.customSections(module, DATA)) write(memory, base2, data);
      new WebAssembly.Instance(module, { ...imports, mcpframe });
      loaded.value = 1;
    });
    const load = Object.assign(() => this.#loadNow(second), { sig: "v" });
    table.set(LOADER, asWasm([load]).get(load));
    return Object.fromEntries(entries.filter(([name2]) => !name2.startsWith(SHARED)));
  }
  /**
   * Links all that are expected.
   * @param {(file: any) => Promise<WebAssembly.Module>} compile fetches and compiles a file
   */
  async come(compile2) {
    await Promise.all([...this.#waiting.keys()].map(async (second) => this.#link(second, await compile2(second))));
  }
  #loadNow(second) {
    performance.mark(`mcpframe:second file ${second.url}`, { detail: new Error("called by").stack });
    this.#link(second, new WebAssembly.Module(fetchNow(addressOf(second), second)));
  }
  #link(second, module) {
    this.#waiting.get(second)?.(module);
    this.#waiting.delete(second);
  }
};
function write({ buffer }, base2, data) {
  const view = new DataView(data);
  for (let at = 0; at < data.byteLength; ) {
    const [place2, size] = [view.getUint32(at, true), view.getUint32(at + 4, true)];
    new Uint8Array(buffer, base2 + place2, size).set(new Uint8Array(data, at + 8, size));
    at += 8 + size;
  }
}

// static/page/workers.js
var NOT_ALLOWED = "the browser or this page's policy allows no worker";
var FIRST_LOOK = 1500;
var MOST_BETWEEN_LOOKS = 8e3;
function loads(url, number2) {
  return new Promise((resolve) => {
    const image = new Image();
    image.onload = () => resolve(true);
    image.onerror = () => resolve(false);
    image.src = `${url}#${number2}`;
  });
}
var One = class {
  #worker = null;
  #url = "";
  #begun = false;
  #over = false;
  #life = "";
  #looks = 0;
  #timer = 0;
  #kept = [];
  #unsent = [];
  #onText = (text) => this.#kept.push(() => this.#onText(text));
  #onEnd = (...reason) => this.#kept.push(() => this.#onEnd(...reason));
  /**
   * @param {Promise<Blob>} program
   * @param {object} given its first message: see surroundings.js
   * @param {Promise<Map<string, WebAssembly.Module>>} compiled
   * @param {Promise<Uint8Array[] | null>} image
   */
  constructor(program2, given2, compiled, image) {
    program2.then(
      (blob) => this.#create(blob, given2, compiled, image),
      (error) => this.#ended(error.message, error.detail, true)
      // workers are allowed, but this one's scripts are not right
    );
  }
  #create(program2, given2, compiled, image) {
    if (this.#over) return;
    this.#url = URL.createObjectURL(program2);
    try {
      this.#worker = new Worker(this.#url, { name: config.name });
    } catch (error) {
      this.#ended(String(error));
      return;
    }
    this.#worker.onmessage = ({ data }) => {
      if (this.#over) return;
      if (!this.#begun) URL.revokeObjectURL(this.#url);
      this.#begun = true;
      this.#look(FIRST_LOOK);
      if (typeof data === "string") this.#onText(data);
      else if (typeof data?.title === "string") this.#ended(data.title, data.detail);
      else if (typeof data?.life === "string") this.#watch(data.life);
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.#ended(event.message || NOT_ALLOWED);
    };
    this.#worker.postMessage({ ...given2, program: program2 });
    for (const text of this.#unsent.splice(0)) this.#worker.postMessage(text);
    compiled.then((modules) => this.#worker.postMessage({ compiled: modules }));
    image.then((unpacked) => this.#sendImage(unpacked));
  }
  /** Sends one copy of the snapshot's layers; null if it is not used. */
  #sendImage(layers) {
    const copies = layers?.map((bytes2) => ({ bytes: bytes2.slice() }));
    this.#worker.postMessage({ image: copies }, copies?.map(({ bytes: bytes2 }) => bytes2.buffer) ?? []);
  }
  handle(onText, onEnd) {
    this.#onText = onText;
    this.#onEnd = onEnd;
    for (const report of this.#kept.splice(0)) queueMicrotask(report);
  }
  /** Sends its Python a text. */
  post(text) {
    if (this.#worker) this.#worker.postMessage(text);
    else if (!this.#over) this.#unsent.push(text);
    this.#look(FIRST_LOOK);
  }
  /** Watches whether it lives, if this page can load images of blobs. */
  async #watch(life) {
    if (this.#life || location.protocol === "file:" || !await loads(life, 0)) return;
    this.#life = life;
    this.#look(FIRST_LOOK);
  }
  #look(silence2) {
    clearTimeout(this.#timer);
    if (!this.#life || this.#over) return;
    const look = async () => {
      const lives = await loads(this.#life, ++this.#looks) || await loads(this.#life, ++this.#looks);
      if (!lives) this.#ended("The worker has ended by itself.");
      else if (timer === this.#timer) this.#look(Math.min(2 * silence2, MOST_BETWEEN_LOOKS));
    };
    const timer = setTimeout(look, silence2);
    this.#timer = timer;
  }
  /** Ends it at once. */
  end() {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#worker?.terminate();
    URL.revokeObjectURL(this.#url);
  }
  #ended(title, detail = "", begun = this.#begun) {
    if (this.#over) return;
    this.end();
    this.#onEnd(title, detail, begun);
  }
};
var Workers = class {
  #fetchProgram;
  #program = null;
  #restores = false;
  #next = null;
  #compiled = withResolvers();
  #image = withResolvers();
  /** @param {() => Promise<Blob>} fetchProgram returns the program of a worker */
  constructor(fetchProgram) {
    this.#fetchProgram = fetchProgram;
  }
  /**
   * Starts a worker with the server, for the first `start`.
   * @param {boolean} restores whether this page starts from a snapshot
   */
  prepare(restores) {
    this.#restores = restores;
    this.#next = this.#create("server");
  }
  /**
   * Keeps what the page has compiled and unpacked, so that workers need not do it again.
   * @param {Promise<Map<string, WebAssembly.Module>>} compiled by URL
   * @param {Promise<Uint8Array[]> | null} image the layers of the snapshot; null if it is not used
   */
  give(compiled, image) {
    compiled.then(this.#compiled.resolve, () => {
    });
    this.#restores = image !== null;
    Promise.resolve(image).then(this.#image.resolve, () => {
    });
  }
  /**
   * Starts Python in a worker.
   * @param {"server" | "process"} kind whether it is for the server or for functions
   * @param {(text: string) => void} onText is called with each text of its Python
   * @param {(title: string, detail: string, begun: boolean) => void} onEnd is called once if it cannot start, or has ended
   *   by itself; `begun` is false if this page can have no worker
   * @returns {One} the worker
   */
  start(kind, onText, onEnd) {
    const one = kind === "server" && this.#next || this.#create(kind);
    if (kind === "server") this.#next = null;
    one.handle(onText, onEnd);
    return one;
  }
  #create(kind) {
    if (!this.#program) {
      this.#program = this.#fetchProgram();
      this.#program.catch(() => this.#program = null);
    }
    const given2 = { kind, config, base: absolute(""), ofPage: ofPage(), restores: this.#restores };
    return new One(this.#program, given2, this.#compiled.promise, this.#image.promise);
  }
};

// static/page/loader.js
globalThis.mcpframeText = (data, isWanted) => textOrReason(data, {}, isWanted);
globalThis.mcpframeFollowSize = (report, isDrawn) => followSize(report, config.size, isDrawn);
globalThis.mcpframeOfPage = ofPage;
var files2 = config.files;
var ending = new Ending((title, detail) => page2.fail(title, detail));
var isServed = config.runs_in === "worker" && !given;
var isSetup = isServed && new RegExp(config.setup_hash).test(location.hash);
var workers = isServed || config.processes && given?.kind !== "process" ? new Workers(program) : null;
var EMPTY_ZIP = new Uint8Array([80, 75, 5, 6, ...new Array(18).fill(0)]);
async function withLoaded(responses, module, libraries, settleExports, constructors, start2) {
  const { fetch: originalFetch } = globalThis;
  const { instantiate, instantiateStreaming } = WebAssembly;
  let copies;
  const linked = async (file, compiled, imports) => {
    const instance = await instantiate.call(WebAssembly, compiled, imports);
    copies ??= hasCopies();
    if (copies) replaceCopies(instance, imports);
    return { module: compiled, instance: { exports: await settleExports(file, instance.exports, imports) } };
  };
  const linkedLibrary = async ({ compiled, file }, imports) => {
    const { module: done, instance } = await linked(file, compiled, imports);
    if (!file.own || !instance.exports.__wasm_call_ctors) return { module: done, instance };
    const { __wasm_call_ctors: construct, ...exports } = instance.exports;
    constructors.push(construct);
    return { module: done, instance: { exports } };
  };
  globalThis.fetch = (resource, options) => {
    const url = typeof resource === "string" || resource instanceof URL ? absolute(resource) : "";
    return responses.get(url)?.() ?? originalFetch(resource, options);
  };
  WebAssembly.instantiateStreaming = async (source, imports) => {
    if (source !== module) return instantiateStreaming.call(WebAssembly, source, imports);
    return linked(files2.wasm, await module, imports);
  };
  WebAssembly.instantiate = async (source, imports) => {
    const library = libraries.get(source?.buffer);
    return library ? linkedLibrary(library, imports) : instantiate.call(WebAssembly, source, imports);
  };
  try {
    return await start2();
  } finally {
    globalThis.fetch = originalFetch;
    Object.assign(WebAssembly, { instantiate, instantiateStreaming });
  }
}
var Arrivals = class {
  /**
   * @param linked how many of the libraries are linked before Python runs
   * @param whole whether the start runs code of the second files
   */
  constructor(linked = files2.libraries.length, whole = true) {
    this.failed = withResolvers();
    this.secondFiles = new SecondFiles();
    this.constructors = [];
    this.wasm = this.watched(compile(files2.wasm));
    const compiled = (file) => ({ ...file, library: this.watched(compile(file)) });
    this.linked = files2.libraries.slice(0, linked).map(compiled);
    const seconds = whole ? [files2.wasm, ...this.linked].flatMap(({ second }) => second ?? []) : [];
    this.seconds = new Map(seconds.map((second) => [second, this.watched(compile(second))]));
    page2.expect([files2.wasm, ...files2.libraries, ...seconds]);
    this.others = files2.libraries.slice(linked).map((file) => ({ ...file, data: this.watched(bytes(file)) }));
    this.scripts = this.watched(
      Promise.all([script(files2.pyodide, "mcpframePyodide"), script(files2.asm, "mcpframePyodideModule")])
    );
  }
  /** Waits until all downloads have arrived, so that memory does not depend on the order of their arrival. */
  async complete() {
    await Promise.all([
      this.wasm,
      this.scripts,
      ...this.linked.map(({ library }) => library),
      ...this.seconds.values()
    ]);
  }
  /** Returns everything compiled, by URL. */
  async compiled() {
    const all = [
      [files2.wasm, this.wasm],
      ...this.linked.map(({ library, ...file }) => [file, library]),
      ...this.seconds
    ];
    return new Map(await Promise.all(all.map(async ([{ url }, module]) => (
      /** @type {const} */
      [url, await module]
    ))));
  }
  // Pyodide swallows some failures of its fetches, so `start` also waits for ours.
  watched(promise) {
    promise.catch(this.failed.reject);
    return promise;
  }
  /**
   * Starts Pyodide. It gets the libraries before it runs, so that each is at the same place in memory every time, as a
   * snapshot requires.
   * @param {object} how
   * @param {(FS: any, info: any) => any} how.fsInit writes files into Python's file system
   * @param {any} [how.more] further settings of Pyodide
   * @param {(module: any) => void} [how.begun] is called with Pyodide's module once its code has loaded and before Python runs
   * @param {(module: any) => any} [how.finish] is called with Pyodide's module in place of starting Python, to put a snapshot into its memory
   */
  async start({ fsInit, more = {}, begun = () => {
  }, finish = () => {
  } }) {
    const [loadPyodide, createPyodideModule] = await this.scripts;
    const noStdlib = absolute("no-stdlib.zip");
    const libraries = /* @__PURE__ */ new Map();
    const linking = async (file) => {
      const compiled = await file.library;
      const { buffer } = headOf2(compiled);
      libraries.set(buffer, { compiled, file });
      return { ok: true, arrayBuffer: async () => buffer };
    };
    const responses = new Map([
      [absolute(files2.wasm.url), () => this.wasm],
      [noStdlib, () => Promise.resolve(new Response(EMPTY_ZIP))],
      ...this.linked.map((file) => [addressOf(file), () => linking(file)])
    ]);
    const urls = new Map(this.linked.map((file) => [file.neededAs ?? file.path, addressOf(file)]));
    const settings = {
      createPyodideModule: async (options) => {
        const { locateFile } = options;
        options.dynamicLibraries = [...urls.keys()];
        options.asWasm = asWasm;
        options.onRuntimeInitialized = () => {
          settleLibraries(options, this.linked);
          performance.mark("mcpframe:linked");
          begun(options);
        };
        options.locateFile = (path) => urls.get(path) ?? locateFile(path);
        const module = await createPyodideModule(options);
        ending.watch(module.API);
        await finish(module);
        return module;
      },
      indexURL: absolute(files2.pyodide.url).replace(/[^/]*$/, ""),
      stdLibURL: noStdlib,
      packageBaseUrl: absolute(""),
      lockFileContents: files2.lock,
      stdin: () => null,
      // nobody can answer input() in a frame
      fsInit,
      ...more,
      env: { ...files2.env, ...more.env }
    };
    const settleExports = async (file, exports, imports) => {
      const settled = this.secondFiles.expect(file, exports, imports);
      if (this.seconds.has(file.second)) await this.secondFiles.come((second) => this.seconds.get(second));
      return settled;
    };
    const fail = ({ reason }) => {
      if (reason instanceof WebAssembly.RuntimeError) this.watched(Promise.reject(reason));
    };
    addEventListener("unhandledrejection", fail);
    return Promise.race([
      withLoaded(responses, this.wasm, libraries, settleExports, this.constructors, () => loadPyodide(settings)),
      this.failed.promise
    ]).finally(() => removeEventListener("unhandledrejection", fail));
  }
};
async function startPython(arrivals, more, begun, constructing = null) {
  page2.progress("Loading");
  workers?.give(arrivals.compiled(), null);
  page2.expect([...files2.archives, ...files2.deferred.atStart ? [files2.deferred] : []]);
  const archives = files2.archives.map((file) => ({ ...file, zip: arrivals.watched(bytes(file)) }));
  const deferredArchive = files2.deferred.atStart ? arrivals.watched(bytes(files2.deferred)) : null;
  const deferred = new DeferredModules(addressOf(files2.deferred), files2.deferred);
  if (constructing) await Promise.all([deferredArchive, ...archives.map(({ zip }) => zip)]);
  const fsInit = async (FS) => {
    performance.mark("mcpframe:wasm");
    for (const { zip, to } of archives) unpack(FS, await zip, to, deferred);
    performance.mark("mcpframe:unpacked");
    deferred.place(FS, await deferredArchive);
    settle2(FS, files2.archives);
    performance.mark("mcpframe:files");
    page2.progress("Starting Python");
  };
  const pyodide = await arrivals.start({ fsInit, more, begun });
  const construct = () => {
    for (const one of arrivals.constructors) one();
  };
  if (constructing) constructing(construct);
  else construct();
  readFor(pyodide._module);
  performance.mark("mcpframe:python");
  const path = pyodide.pyimport("sys").path;
  path.remove(files2.stdlib_zip);
  path.insert(0, files2.server_path);
  for (const folder of files2.paths) path.append(folder);
  path.destroy();
  pyodide.FS.mkdirTree(files2.server_path);
  pyodide.FS.chdir(files2.server_path);
  performance.mark("mcpframe:libraries");
  return pyodide;
}
async function copiesOf(fetched) {
  const layers = await fetched;
  const copies = layers.map(({ bytes: bytes2 }) => bytes2.slice());
  await Promise.all(layers.map(({ checked }) => checked));
  return copies;
}
async function restorePython(more, begun) {
  const fetched = given ? given.image : fetchSnapshot(files2.snapshot, get, compile, page2.loaded);
  const snapshot = new Snapshot(files2.snapshot, fetched);
  const runsAll = more?._makeSnapshot || files2.snapshot.layers.at(-1).name !== "server";
  const arrivals = new Arrivals(files2.snapshot.libraries, runsAll);
  workers?.give(arrivals.compiled(), copiesOf(fetched));
  page2.progress("Loading");
  page2.expect([...files2.snapshot.layers, files2.snapshot.decoder]);
  const background = new BackgroundFiles(files2, addressOf, bytesInBackground);
  const first = background.expect(files2.snapshot.files, (file) => arrivals.watched(bytes(file)));
  if (more?._makeSnapshot) await Promise.all([arrivals.complete(), snapshot.arrived, first]);
  const pyodide = await arrivals.start({
    fsInit: async (FS) => background.place(FS, await first),
    more: { ...more, _loadSnapshot: snapshot.head() },
    begun,
    finish: (module) => snapshot.fill(module)
  });
  readFor(pyodide._module);
  performance.mark("mcpframe:python");
  pyodide.FS.mkdirTree(files2.server_path);
  pyodide.FS.chdir(files2.server_path);
  if (more?._makeSnapshot) return pyodide;
  const lacksParts = files2.archives.some(({ part }) => part) && files2.snapshot.layers.every(({ name: name2 }) => name2 === "sdk");
  const visitor = JSON.stringify({ ...snapshot.visitor(), lacksParts });
  pyodide.pyimport("mcpframe.frame.compat.after_restore").start_visit(visitor);
  for (const { path, data } of arrivals.others) {
    pyodide.FS.writeFile(path, await data);
    await pyodide._api.loadDynlib(path);
  }
  page2.isRestored();
  background.fetchInBackground(() => arrivals.secondFiles.come(compile));
  performance.mark("mcpframe:libraries");
  return pyodide;
}
async function start() {
  if (given ? given.restores : isChosen(files2)) {
    try {
      return await restorePython();
    } catch (error) {
      console.warn(unused(error?.message ?? error));
      return startPython(new Arrivals());
    }
  }
  const pyodide = await startPython(new Arrivals());
  fetchForNextTime(files2, bytesInBackground);
  return pyodide;
}
async function memoryAtStart(env) {
  const enough = new Error("The start ends here.");
  let memory;
  const finish = (module) => {
    memory = module.HEAPU8.slice();
    throw enough;
  };
  const arrivals = await completeArrivals();
  const more = { env, _loadSnapshot: new Uint8Array(1) };
  await arrivals.start({ fsInit: () => {
  }, more, finish }).catch((error) => {
    if (error !== enough) throw error;
  });
  return { memory, bases: Object.fromEntries(arrivals.secondFiles.bases) };
}
async function completeArrivals() {
  const arrivals = new Arrivals();
  await arrivals.complete();
  return arrivals;
}
var builder = {
  memoryAtStart,
  startPython: async (more, begun, constructing) => startPython(await completeArrivals(), more, begun, constructing),
  restorePython,
  paths: files2.paths
};
async function main() {
  page2.start(config);
  if (files2.snapshot_maker) return (await script(files2.snapshot_maker, "mcpframeSnapshotMaker"))(builder);
  if (isServed && !isSetup) workers.prepare(isChosen(files2));
  if (workers) page2.start_worker = (kind, onText, onEnd) => workers.start(kind, onText, onEnd);
  const pyodide = await start();
  globalThis.mcpframeMemory = () => pyodide._module.HEAPU8.length;
  const boot = pyodide.pyimport("mcpframe.frame.boot.boot");
  const serving = given ? boot.main_in_worker(JSON.stringify(config), page2) : boot.main(JSON.stringify(config), page2);
  ending.watchErrors(serving, () => boot.serves());
  await serving;
}
main().catch((error) => {
  if (error instanceof BootError) page2.fail(error.message, error.detail);
  else
    page2.fail(
      `The server did not start: ${error?.message?.split("\n").at(-1) || error}`,
      String(error?.stack ?? error)
    );
});
